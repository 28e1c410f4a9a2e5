//! How far the physical limit is: reads, parses, compares and counts the timed sets, and no more.
//!
//! `native_floor SCHEMA GT PRED` prints what floor.py does, but for classes of errors and intervals.
//! It counts on the same promises, on ASCII, and on nothing that a library would bring.

use std::collections::HashMap;
use std::{env, fs};

// --- JSON

enum Json {
    Null,
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    fn get(&self, name: &str) -> Option<&Json> {
        let Json::Object(fields) = self else { return None };
        fields.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    fn number(&self, name: &str, default: f64) -> f64 {
        if let Some(Json::Number(value)) = self.get(name) { *value } else { default }
    }

    fn text(&self, name: &str) -> &str {
        if let Some(Json::Text(value)) = self.get(name) { value } else { "" }
    }
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn next(&mut self) -> u8 {
        while self.bytes[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        self.at += 1;
        self.bytes[self.at - 1]
    }

    fn value(&mut self) -> Json {
        match self.next() {
            b'{' => {
                let mut fields = Vec::new();
                loop {
                    match self.next() {
                        b'}' => return Json::Object(fields),
                        b'"' => {
                            let name = self.text();
                            self.next(); // the colon
                            fields.push((name, self.value()));
                        }
                        _ => {} // a comma
                    }
                }
            }
            b'[' => {
                let mut values = Vec::new();
                loop {
                    match self.next() {
                        b']' => return Json::List(values),
                        b',' => {}
                        _ => {
                            self.at -= 1;
                            values.push(self.value());
                        }
                    }
                }
            }
            b'"' => Json::Text(self.text()),
            first if first.is_ascii_alphabetic() => {
                while self.bytes[self.at].is_ascii_alphabetic() {
                    self.at += 1;
                }
                Json::Null // no set has a flag that is compared
            }
            _ => {
                let start = self.at - 1;
                let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace();
                let rest = &self.bytes[self.at..];
                self.at += rest.iter().position(ends).unwrap_or(rest.len());
                let written = std::str::from_utf8(&self.bytes[start..self.at]).unwrap();
                Json::Number(written.parse().unwrap())
            }
        }
    }

    fn text(&mut self) -> String {
        let start = self.at;
        while self.bytes[self.at] != b'"' {
            assert!(self.bytes[self.at] != b'\\', "no set has escapes");
            self.at += 1;
        }
        self.at += 1;
        String::from_utf8(self.bytes[start..self.at - 1].to_vec()).unwrap()
    }
}

fn parse(bytes: &[u8]) -> Json {
    Parser { bytes, at: 0 }.value()
}

// --- schema

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Exact,
    Number,
    Date,
}

struct Field {
    name: String,
    weight: f64,
    threshold: f64,
    kind: Kind,
    fields: Vec<Field>,
    is_list: bool,
    id: usize,
}

fn fields_of(schema: &Json, path: &str, paths: &mut Vec<String>) -> Vec<Field> {
    let Some(Json::Object(properties)) = schema.get("properties") else { return Vec::new() };
    let mut fields = Vec::new();
    for (name, node) in properties {
        let is_list = node.text("type") == "array";
        let inner = if is_list { node.get("items").unwrap() } else { node };
        let path = format!("{path}{name}");
        paths.push(path.clone());
        fields.push(Field {
            name: name.clone(),
            weight: node.number("x-aws-stickler-weight", 1.0),
            threshold: node.number("x-aws-stickler-threshold", 0.7) - 1e-9,
            kind: match node.text("x-aws-stickler-comparator") {
                "LevenshteinComparator" => Kind::Text,
                "NumericComparator" => Kind::Number,
                "DateComparator" => Kind::Date,
                _ => Kind::Exact,
            },
            id: paths.len() - 1,
            fields: fields_of(inner, &format!("{path}."), paths),
            is_list,
        });
    }
    fields
}

// --- values, each prepared once

enum Value {
    Nothing,
    Text(Vec<u8>),
    Number(f64),
    Days(i64, i64),
    Object(Vec<Value>),
    List(Vec<Value>),
}

fn prepared(field: &Field, value: Option<&Json>) -> Value {
    match (value, field.is_list) {
        (None | Some(Json::Null), false) => Value::Nothing,
        (Some(Json::List(values)), true) => {
            Value::List(values.iter().map(|value| prepared_one(field, value)).collect())
        }
        (_, true) => Value::List(Vec::new()),
        (Some(value), false) => prepared_one(field, value),
    }
}

fn prepared_one(field: &Field, value: &Json) -> Value {
    match (value, field.kind) {
        (Json::Object(_), _) => prepared_object(&field.fields, value),
        (Json::Number(number), _) => Value::Number(*number),
        (Json::Text(text), Kind::Text) => {
            let words: Vec<&str> = text.split_ascii_whitespace().collect();
            Value::Text(words.join(" ").to_ascii_lowercase().into_bytes())
        }
        (Json::Text(text), Kind::Exact) => {
            let kept = text.bytes().filter(|byte| byte.is_ascii_alphanumeric());
            Value::Text(kept.map(|byte| byte.to_ascii_lowercase()).collect())
        }
        (Json::Text(text), Kind::Date) => days(text),
        _ => Value::Nothing,
    }
}

fn prepared_object(fields: &[Field], value: &Json) -> Value {
    Value::Object(fields.iter().map(|field| prepared(field, value.get(&field.name))).collect())
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Read a date in both orders of month and day.
fn days(text: &str) -> Value {
    let parts: Vec<&str> = text.split(['-', '/', ' ', ',']).filter(|part| !part.is_empty()).collect();
    let number = |index: usize| parts[index].parse::<i64>().unwrap_or(0);
    let month = |index: usize| {
        let name = parts[index][..3].to_ascii_lowercase();
        MONTHS.iter().position(|month| *month == name).unwrap() as i64 + 1
    };
    let day = |year: i64, month: i64, day: i64| year * 400 + month * 32 + day;
    if parts[0].len() == 4 && number(0) > 0 {
        let one = day(number(0), number(1), number(2));
        Value::Days(one, one)
    } else if text.contains('/') {
        let in_order = |first: i64, second: i64| {
            if first <= 12 { day(number(2), first, second) } else { day(number(2), second, first) }
        };
        Value::Days(in_order(number(0), number(1)), in_order(number(1), number(0)))
    } else {
        let one = if number(0) > 0 {
            day(number(2), month(1), number(0))
        } else {
            day(number(2), month(0), number(1))
        };
        Value::Days(one, one)
    }
}

// --- comparison

/// Edit distances from one text. Source: Myers (1999), doi:10.1145/316542.316550, in blocks as
/// Hyyrö (2003) has it.
struct Pattern {
    length: usize,
    masks: Vec<[u64; 128]>,
}

impl Pattern {
    fn new(text: &[u8]) -> Pattern {
        let mut masks = vec![[0; 128]; text.len().div_ceil(64)];
        for (place, byte) in text.iter().enumerate() {
            masks[place / 64][*byte as usize] |= 1 << (place % 64);
        }
        Pattern { length: text.len(), masks }
    }

    fn similarity(&self, other: &[u8]) -> f64 {
        let longest = self.length.max(other.len());
        if longest == 0 {
            return 1.0;
        }
        1.0 - self.distance(other) as f64 / longest as f64
    }

    fn distance(&self, other: &[u8]) -> usize {
        if self.length == 0 {
            return other.len();
        }
        let mut columns = vec![(!0u64, 0u64); self.masks.len()];
        let mut distance = self.length;
        let last = 1u64 << ((self.length - 1) % 64);
        for byte in other {
            let (mut up, mut down) = (1u64, 0u64);
            for (block, (plus, minus)) in columns.iter_mut().enumerate() {
                let equal = self.masks[block][*byte as usize];
                let x = equal | down;
                let zero = (((x & *plus).wrapping_add(*plus)) ^ *plus) | x | *minus;
                let mut across_up = *minus | !(zero | *plus);
                let mut across_down = *plus & zero;
                if block + 1 == self.masks.len() {
                    distance += usize::from(across_up & last != 0);
                    distance -= usize::from(across_down & last != 0);
                }
                let (next_up, next_down) = (across_up >> 63, across_down >> 63);
                across_up = across_up << 1 | up;
                across_down = across_down << 1 | down;
                (up, down) = (next_up, next_down);
                *plus = across_down | !(zero | across_up);
                *minus = across_up & zero;
            }
        }
        distance
    }
}

fn similarity(kind: Kind, gt: &Value, pred: &Value) -> f64 {
    match (gt, pred) {
        (Value::Text(gt), Value::Text(pred)) => {
            if gt == pred {
                1.0
            } else if matches!(kind, Kind::Text) {
                Pattern::new(gt).similarity(pred)
            } else {
                0.0
            }
        }
        (Value::Number(gt), Value::Number(pred)) => f64::from(gt == pred),
        (Value::Days(a, b), Value::Days(c, d)) => f64::from(a == c || b == d),
        _ => 0.0,
    }
}

/// Compare all elements of two lists with all, row by row.
fn matrix(field: &Field, gts: &[Value], preds: &[Value]) -> Vec<f64> {
    if field.fields.is_empty() {
        return leaves(field.kind, gts.iter(), preds.iter(), preds.len());
    }
    let mut total = vec![0.0; gts.len() * preds.len()];
    for (index, inner) in field.fields.iter().enumerate() {
        let [gt_values, pred_values] = [gts, preds].map(|side| side.iter().map(move |item| part(item, index)));
        let scores = if inner.is_list {
            let rows = gt_values;
            rows.flat_map(|gt| pred_values.clone().map(move |pred| list(inner, gt, pred).0)).collect()
        } else {
            leaves(inner.kind, gt_values, pred_values, preds.len())
        };
        for (sum, score) in total.iter_mut().zip(scores) {
            *sum += inner.weight * score;
        }
    }
    let weights: f64 = field.fields.iter().map(|inner| inner.weight).sum();
    total.iter_mut().for_each(|sum| *sum /= weights);
    total
}

fn leaves<'a>(
    kind: Kind,
    gts: impl Iterator<Item = &'a Value>,
    preds: impl Iterator<Item = &'a Value> + Clone,
    columns: usize,
) -> Vec<f64> {
    let mut scores = Vec::with_capacity(columns);
    for gt in gts {
        if let (Kind::Text, Value::Text(text)) = (kind, gt) {
            let pattern = Pattern::new(text);
            scores.extend(preds.clone().map(|pred| {
                if let Value::Text(pred) = pred { pattern.similarity(pred) } else { 0.0 }
            }));
        } else {
            scores.extend(preds.clone().map(|pred| similarity(kind, gt, pred)));
        }
    }
    scores
}

fn part(item: &Value, index: usize) -> &Value {
    if let Value::Object(values) = item { &values[index] } else { &Value::Nothing }
}

fn elements(value: &Value) -> &[Value] {
    if let Value::List(values) = value { values } else { &[] }
}

/// Give the score of two lists, and their pairs with the similarity of each.
fn list(field: &Field, gt: &Value, pred: &Value) -> (f64, Vec<(usize, usize, f64)>) {
    let (gts, preds) = (elements(gt), elements(pred));
    let cells = matrix(field, gts, preds);
    let pairs: Vec<_> = assigned(&cells, gts.len(), preds.len())
        .into_iter()
        .map(|(row, column)| (row, column, cells[row * preds.len() + column]))
        .collect();
    let total: f64 = pairs.iter().map(|pair| pair.2).sum();
    (total / gts.len().max(preds.len()).max(1) as f64, pairs)
}

/// Choose the pairs of the greatest total; among equal totals, those at equal positions.
/// Source: Jonker, Volgenant (1987), doi:10.1007/BF02278710, the augmenting part.
fn assigned(cells: &[f64], rows: usize, columns: usize) -> Vec<(usize, usize)> {
    let flipped = rows > columns;
    let (n, m) = if flipped { (columns, rows) } else { (rows, columns) };
    let preference = |row: usize, column: usize| 1e-9 * (1.0 - row.abs_diff(column) as f64 / m as f64);
    let cost = |row: usize, column: usize| {
        let cell = if flipped { column * columns + row } else { row * columns + column };
        -(cells[cell] + preference(row, column))
    };
    let (mut u, mut v) = (vec![0.0; n + 1], vec![0.0; m + 1]);
    let (mut owner, mut way) = (vec![0; m + 1], vec![0; m + 1]);
    for row in 1..=n {
        owner[0] = row;
        let mut at = 0;
        let (mut least, mut used) = (vec![f64::INFINITY; m + 1], vec![false; m + 1]);
        while owner[at] != 0 {
            used[at] = true;
            let (current, mut step, mut next) = (owner[at], f64::INFINITY, 0);
            for column in 1..=m {
                if !used[column] {
                    let reduced = cost(current - 1, column - 1) - u[current] - v[column];
                    if reduced < least[column] {
                        (least[column], way[column]) = (reduced, at);
                    }
                    if least[column] < step {
                        (step, next) = (least[column], column);
                    }
                }
            }
            for column in 0..=m {
                if used[column] {
                    u[owner[column]] += step;
                    v[column] -= step;
                } else {
                    least[column] -= step;
                }
            }
            at = next;
        }
        while at != 0 {
            owner[at] = owner[way[at]];
            at = way[at];
        }
    }
    let pairs = (1..=m).filter(|column| owner[*column] != 0).map(|column| (owner[column] - 1, column - 1));
    pairs.map(|(one, other)| if flipped { (other, one) } else { (one, other) }).collect()
}

// --- counts

const TP: usize = 0;
const FD: usize = 1;
const FA: usize = 2;
const FN: usize = 3;
type Counts = Vec<[usize; 5]>;

fn object_score(fields: &[Field], gt: &Value, pred: &Value, counts: &mut Counts) -> f64 {
    let (mut total, mut weights) = (0.0, 0.0);
    for (index, field) in fields.iter().enumerate() {
        let (gt, pred) = (part(gt, index), part(pred, index));
        weights += field.weight;
        if field.is_list {
            total += field.weight * list_score(field, gt, pred, counts);
        } else if matches!(gt, Value::Nothing) {
            counts[field.id][if matches!(pred, Value::Nothing) { 4 } else { FA }] += 1;
        } else if matches!(pred, Value::Nothing) {
            counts[field.id][FN] += 1;
        } else {
            let score = if field.fields.is_empty() {
                similarity(field.kind, gt, pred)
            } else {
                object_score(&field.fields, gt, pred, counts)
            };
            counts[field.id][if score >= field.threshold { TP } else { FD }] += 1;
            total += field.weight * score;
        }
    }
    total / weights
}

fn list_score(field: &Field, gt: &Value, pred: &Value, counts: &mut Counts) -> f64 {
    let (score, pairs) = list(field, gt, pred);
    counts[field.id][FN] += elements(gt).len() - pairs.len();
    counts[field.id][FA] += elements(pred).len() - pairs.len();
    for (row, column, similarity) in pairs {
        let matches = similarity >= field.threshold;
        counts[field.id][if matches { TP } else { FD }] += 1;
        if matches && !field.fields.is_empty() {
            object_score(&field.fields, &elements(gt)[row], &elements(pred)[column], counts);
        }
    }
    score
}

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let mut paths = Vec::new();
    let fields = fields_of(&parse(&fs::read(&arguments[1]).unwrap()), "", &mut paths);
    let mut counts: Counts = vec![[0; 5]; paths.len()];
    let entries = fs::read_dir(&arguments[2]).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let mut score = 0.0;
    for name in &names {
        let [gt, pred] = [&arguments[2], &arguments[3]]
            .map(|side| prepared_object(&fields, &parse(&fs::read(format!("{side}/{name}")).unwrap())));
        score += object_score(&fields, &gt, &pred, &mut counts);
    }
    let mut whole = [0; 5];
    for field in &fields {
        for outcome in 0..5 {
            whole[outcome] += counts[field.id][outcome];
        }
    }
    let mut shown: HashMap<String, [usize; 5]> = paths.into_iter().zip(counts).collect();
    shown.insert(String::new(), whole);
    let listed: Vec<String> = shown.iter().map(|(path, counts)| format!("{path:?}: {counts:?}")).collect();
    println!(
        "{{\"documents\": {}, \"score\": {:?}, \"counts\": {{{}}}}}",
        names.len(),
        score / names.len() as f64,
        listed.join(", ")
    );
}
