"""The model that comes with Kaizen: a small trial model behind a Unix socket with a key.

    weights   which file is served, found without importing the package that carries it
    server    the llama.cpp server inside this process, OpenAI-style HTTP
    __main__  `python -m kaizen.local_model SOCKET`

It proves the whole path on any machine; for good answers connect a better one with
KAIZEN_MODEL_BASE_URL, or name a GGUF file in KAIZEN_LOCAL_MODEL. Nothing here imports Django.
"""
