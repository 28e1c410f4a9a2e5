// What the parts of the page's script read that none of them declares.

/** How rows of one kind are filtered and sorted: runs/page_queries.py writes it into the page. */
interface Query {
  filters: Record<string, [test: string, column: string]>;
  orders: Record<string, string[]>;
  groups: string[];
}
type Queries = Record<string, Query>;
declare const QUERIES: Queries;
