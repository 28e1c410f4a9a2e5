"""TRL's own trainer accepts the reward, with a tiny model that the test makes."""

import json

import pytest

from stickler_cli import Scorer
from stickler_cli.integrations.trl import reward

SCHEMA = {"type": "object", "properties": {"vendor": {"type": "string"}}}


def test_rows_without_a_truth_have_no_reward():
    judge = reward(Scorer(SCHEMA), column="truth")
    texts = ['{"vendor": "A"}', '{"vendor": "A"}', "no"]
    chats = [
        [{"role": "user", "content": "..."}, {"role": "assistant", "content": text}]
        for text in texts
    ]

    for completions in (texts, chats):
        rewards = judge(completions=completions, truth=['{"vendor": "A"}', None, {"vendor": "A"}])
        assert rewards == [1.0, None, 0.0]


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # what they warn of is not ours
def test_a_trainer_takes_two_steps(tmp_path):
    torch = pytest.importorskip("torch", reason="torch IS NOT INSTALLED: no model is trained")
    trl = pytest.importorskip("trl", reason="TRL IS NOT INSTALLED: no model is trained")
    from datasets import Dataset
    from datasets.table import InMemoryTable
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    torch.set_num_threads(1)
    letters = ("<pad>", "<eos>", *sorted(pre_tokenizers.ByteLevel.alphabet()))
    tokens = Tokenizer(models.BPE({letter: index for index, letter in enumerate(letters)}, []))
    tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokens.decoder = decoders.ByteLevel()
    named = {"pad_token": letters[0], "eos_token": letters[1]}
    size = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2}
    ids = {"pad_token_id": 0, "eos_token_id": 1, "bos_token_id": 1}
    config = Qwen2Config(
        vocab_size=len(letters), max_position_embeddings=128, **size, **heads, **ids
    )
    rows = [
        {"prompt": f"page {index}", "ground_truth": json.dumps({"vendor": f"A{index}"})}
        for index in range(4)
    ]
    judge, rewards_given = reward(Scorer(SCHEMA)), []

    def watched(**columns):
        rewards_given.append(judge(**columns))
        return rewards_given[-1]

    steps = {"max_steps": 2, "per_device_train_batch_size": 2, "num_generations": 2}
    trainer = trl.GRPOTrainer(
        model=Qwen2ForCausalLM(config),
        reward_funcs=[watched],
        args=trl.GRPOConfig(
            output_dir=str(tmp_path),
            max_completion_length=8,
            report_to=[],
            use_cpu=True,
            bf16=False,
            save_strategy="no",
            disable_tqdm=True,
            logging_steps=1,
            **steps,
        ),
        # With a fingerprint: datasets 5.2.0 fails to make one of a table of pyarrow 26.
        train_dataset=Dataset(InMemoryTable.from_pylist(rows), fingerprint="rows"),
        processing_class=PreTrainedTokenizerFast(tokenizer_object=tokens, **named),
    )
    trainer.train()

    assert trainer.state.global_step == 2
    assert rewards_given == [[0.0, 0.0]] * 2
    logged = [log["rewards/watched/mean"] for log in trainer.state.log_history[:2]]
    assert [float(mean) for mean in logged] == [0.0, 0.0]
