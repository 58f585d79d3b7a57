/** The model servers the set-up help knows, and the lines that connect each. */

import { t } from './translate';

export interface ModelServer {
  key: string;
  label: string;
  /** Environment variables, in the order in which people think of them. */
  variables: Record<string, string>;
}

export function modelServers(): ModelServer[] {
  return [
    {
      key: 'openai',
      label: 'OpenAI',
      variables: {
        COWORK_BASE_URL: 'https://api.openai.com/v1',
        COWORK_API_KEY: 'your-key',
        COWORK_MODEL: 'gpt-5-mini'
      }
    },
    {
      key: 'ollama',
      label: 'Ollama',
      variables: { COWORK_BASE_URL: 'http://localhost:11434/v1', COWORK_MODEL: 'qwen2.5-coder:7b' }
    },
    {
      key: 'vllm',
      label: 'vLLM',
      variables: { COWORK_BASE_URL: 'http://localhost:8000/v1', COWORK_MODEL: 'Qwen/Qwen2.5-Coder-7B-Instruct' }
    },
    {
      key: 'llama.cpp',
      label: 'llama.cpp',
      variables: { COWORK_BASE_URL: 'http://localhost:8080/v1', COWORK_MODEL: 'local' }
    },
    {
      key: 'openai-compatible',
      label: t('Other'),
      variables: {
        COWORK_BASE_URL: 'https://your-server/v1',
        COWORK_API_KEY: 'your-key',
        COWORK_MODEL: 'your-model'
      }
    }
  ];
}

/** Lines to paste into the terminal from which Jupyter is started. */
export function exportLines(server: ModelServer): string {
  return Object.entries(server.variables)
    .map(([name, value]) => `export ${name}=${value}`)
    .join('\n');
}
