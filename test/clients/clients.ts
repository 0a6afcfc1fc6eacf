import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the client is asked to do. `refused` is a single call, for refusals. */
export type Deed = 'call' | 'stream' | 'tools' | 'models' | 'refused';

export const REFUSALS = ['401', 'limit', 'credits', 'hold', '403', '404', '429', '502', '503'] as const;
export type Refusal = (typeof REFUSALS)[number];
/**
 * `targets`: targets die during a tool loop. `encrypted`: the target that made the encrypted reasoning is unreachable
 * for a while.
 */
export type Case = Exclude<Deed, 'refused'> | 'targets' | 'encrypted' | 'left' | Refusal;

/** The surroundings of one run of a client. */
export interface Task {
  readonly deed: Deed;
  /** Address of the gateway, without a slash at the end. */
  readonly url: string;
  readonly key: string;
  readonly model: string;
  readonly prompt: string;
  /** Where the client is installed. */
  readonly folder: string;
  /** Home and working directory of the run. */
  readonly home: string;
}

export interface Command {
  readonly argv: readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>>;
}

/** A client: a row of the table in docs/clients.md. */
export interface Client {
  readonly id: string;
  readonly name: string;
  /** A model of the shipped configuration. */
  readonly model: string;
  /** Name in versions.json; default `id`. */
  readonly packages?: string;
  /** It compacts the conversation within its tool loop. */
  readonly isCompacting?: true;
  /** The number of tool loops in one run, one for each API. Default: 1. */
  readonly loops?: number;
  /** What it cannot do, with the reason. */
  readonly lacks?: Readonly<Partial<Record<Case, string>>>;
  /** Its own message for a refusal, if that says the same as ours. */
  readonly ownWords?: Readonly<Partial<Record<Refusal, RegExp>>>;
  command(task: Task): Command;
}

const NEVER_ASKS = { models: 'It never asks for the list of models.' } as const;
const LISTED = 'It offers the models that the gateway lists for its key.';
const OF_ITS_LIST = { 401: LISTED, 403: LISTED, 404: LISTED } as const;
const DRIVERS = new URL('drivers/', import.meta.url).pathname;

/** A driver for an SDK, configured by the environment alone. */
function driver(file: string, env: (task: Task) => Record<string, string>): Client['command'] {
  return (task) => {
    const copy = join(task.folder, file);
    // Imports resolve from the location of the file.
    writeFileSync(copy, readFileSync(join(DRIVERS, file)));
    const program = file.endsWith('.py') ? join(task.folder, 'venv/bin/python') : process.execPath;
    return { argv: [program, copy, task.deed], env: { ...env(task), ...asked(task) } };
  };
}

/** A driver that was compiled when its SDK was installed. */
function compiled(env: (task: Task) => Record<string, string>): Client['command'] {
  return (task) => ({
    argv: [join(task.folder, 'client'), task.deed],
    env: { ...env(task), ...asked(task) },
  });
}

const asked = ({ model, prompt }: Task) => ({ MODEL: model, PROMPT: prompt });

const openai = ({ url, key }: Task) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: key });
const anthropic = ({ url, key }: Task) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key });

/** For drivers that take both formats: chat, Responses and Messages. */
const both = ({ url, key }: Task) => ({ BASE_URL: url, API_KEY: key, CLAUDE: 'claude-sonnet-5-5' });
const BOTH = { model: 'gpt-5.5', loops: 3, lacks: { models: 'It has no list of models.' } } as const;

const CODEX = {
  model: 'gpt-5.5',
  lacks: NEVER_ASKS,
  ownWords: { credits: /out of credits/i },
} as const;

function codex(provider: string, more = ''): Client['command'] {
  return ({ url, key, model, prompt, folder, home }) => {
    const settings = join(home, '.codex');
    mkdirSync(settings, { recursive: true });
    writeFileSync(
      join(settings, 'config.toml'),
      `model = "${model}"
model_provider = "tollgate"
web_search = "disabled"
${more}

[model_providers.tollgate]
${provider}
base_url = "${url}/v1"
env_key = "TOLLGATE_KEY"
wire_api = "responses"
`,
    );
    return {
      argv: [
        join(folder, 'node_modules/.bin/codex'),
        ...['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access', prompt],
      ],
      env: { TOLLGATE_KEY: key },
    };
  };
}

export const CLIENTS: readonly Client[] = [
  {
    id: 'openai-node',
    name: 'OpenAI, Node',
    model: 'gpt-5.5',
    loops: 2,
    command: driver('openai-node.mjs', openai),
  },
  {
    id: 'openai-python',
    name: 'OpenAI, Python',
    model: 'gpt-5.5',
    loops: 2,
    command: driver('openai-python.py', openai),
  },
  { id: 'openai-go', name: 'OpenAI, Go', model: 'gpt-5.5', loops: 2, command: compiled(openai) },
  {
    id: 'anthropic-node',
    name: 'Anthropic, Node',
    model: 'claude-sonnet-5-5',
    command: driver('anthropic-node.mjs', anthropic),
  },
  {
    id: 'anthropic-python',
    name: 'Anthropic, Python',
    model: 'claude-sonnet-5-5',
    command: driver('anthropic-python.py', anthropic),
  },
  {
    id: 'anthropic-go',
    name: 'Anthropic, Go',
    model: 'claude-sonnet-5-5',
    command: compiled(anthropic),
  },
  { ...BOTH, id: 'langchain-js', name: 'LangChain, JavaScript', command: driver('langchain-js.mjs', both) },
  {
    ...BOTH,
    id: 'langchain-python',
    name: 'LangChain, Python',
    command: driver('langchain-python.py', both),
  },
  {
    ...BOTH,
    id: 'vercel-ai',
    name: 'Vercel AI SDK',
    command: driver('vercel-ai.mjs', (task) => both({ ...task, url: `${task.url}/v1` })),
  },
  {
    ...BOTH,
    id: 'llama-index',
    name: 'LlamaIndex',
    loops: 1,
    command: driver('llama-index.py', (task) => both({ ...task, url: `${task.url}/v1` })),
  },
  { ...BOTH, id: 'pydantic-ai', name: 'pydantic-ai', command: driver('pydantic-ai.py', both) },
  { ...BOTH, id: 'litellm', name: 'LiteLLM', loops: 2, command: driver('litellm-client.py', both) },
  {
    id: 'llm',
    name: '`llm`',
    model: 'gpt-4.1',
    lacks: NEVER_ASKS,
    command({ deed, url, key, model, prompt, folder, home }) {
      writeFileSync(
        join(home, 'extra-openai-models.yaml'),
        `- model_id: tollgate
  model_name: ${model}
  api_base: ${url}/v1
  api_key_name: tollgate
  supports_tools: true
`,
      );
      writeFileSync(join(home, 'keys.json'), JSON.stringify({ tollgate: key }));
      const step = 'def step() -> str:\n    "Takes a step"\n    return "taken"';
      const tools = deed === 'tools' ? ['--functions', step, '--chain-limit', '20'] : [];
      const stream = deed === 'stream' ? [] : ['--no-stream'];
      return {
        argv: [join(folder, 'venv/bin/llm'), 'prompt', '-m', 'tollgate', ...tools, ...stream, prompt],
        env: { LLM_USER_PATH: home },
      };
    },
  },
  { ...CODEX, id: 'codex', name: 'Codex CLI', command: codex('name = "Tollgate"') },
  {
    ...CODEX,
    id: 'codex-compacting',
    name: 'Codex CLI, compacting',
    packages: 'codex',
    isCompacting: true,
    lacks: { ...NEVER_ASKS, targets: 'Its compactions can be read by their maker alone.' },
    // For this name it compacts at the provider; it passes the limit with each call.
    command: codex('name = "OpenAI"', 'model_auto_compact_token_limit = 1000'),
  },
  {
    id: 'claude-code',
    name: 'Claude Code',
    model: 'claude-sonnet-5-5',
    lacks: NEVER_ASKS,
    command: ({ url, key, model, prompt, folder }) => ({
      argv: [
        join(folder, 'node_modules/.bin/claude'),
        '-p',
        prompt,
        '--model',
        model,
        '--allowedTools',
        'Bash',
      ],
      env: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_AUTH_TOKEN: key,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
    }),
  },
  {
    id: 'opencode',
    name: 'opencode',
    model: 'gpt-4.1',
    lacks: NEVER_ASKS,
    command({ url, key, model, prompt, folder, home }) {
      const provider = {
        npm: '@ai-sdk/openai-compatible',
        options: { baseURL: `${url}/v1`, apiKey: '{env:TOLLGATE_KEY}' },
        models: { [model]: { limit: { context: 1_000_000, output: 8_000 } } },
      };
      const settings = {
        autoupdate: false,
        provider: { tollgate: provider },
        small_model: `tollgate/${model}`,
      };
      writeFileSync(join(home, 'opencode.json'), JSON.stringify(settings));
      return {
        argv: [join(folder, 'node_modules/.bin/opencode'), 'run', '-m', `tollgate/${model}`, prompt],
        env: { TOLLGATE_KEY: key },
      };
    },
  },
  {
    id: 'cline',
    name: 'Cline',
    model: 'gpt-4.1',
    lacks: NEVER_ASKS,
    command({ url, key, model, prompt, folder, home }) {
      const settings = join(home, '.cline/data/settings');
      mkdirSync(settings, { recursive: true });
      const provider = 'openai-compatible';
      // As the command `cline auth` writes them.
      const chosen = { provider, apiKey: key, model, baseUrl: `${url}/v1` };
      const entry = { settings: chosen, updatedAt: new Date(0).toISOString(), tokenSource: 'manual' };
      const providers = {
        version: 1,
        lastUsedProvider: provider,
        modes: {},
        providers: { [provider]: entry },
      };
      writeFileSync(join(settings, 'providers.json'), JSON.stringify(providers));
      return { argv: [join(folder, 'node_modules/.bin/cline'), '-P', provider, '-m', model, prompt] };
    },
  },
  {
    id: 'continue',
    name: 'Continue',
    model: 'gpt-4.1',
    lacks: NEVER_ASKS,
    command({ url, key, model, prompt, folder, home }) {
      const file = join(home, 'config.yaml');
      writeFileSync(
        file,
        `name: Tollgate
version: 1.0.0
schema: v1
models:
  - name: Tollgate
    provider: openai
    model: ${model}
    apiBase: ${url}/v1
    apiKey: ${key}
`,
      );
      return { argv: [join(folder, 'node_modules/.bin/cn'), '--config', file, '--auto', '-p', prompt] };
    },
  },
  {
    id: 'aider',
    name: 'aider',
    model: 'gpt-4.1',
    lacks: { ...NEVER_ASKS, tools: 'It uses no tools.' },
    command: ({ url, key, model, prompt, folder }) => ({
      argv: [
        join(folder, 'venv/bin/aider'),
        ...[
          '--model',
          `openai/${model}`,
          '--message',
          prompt,
          '--yes-always',
          '--no-git',
          '--no-check-update',
        ],
        ...['--analytics-disable', '--no-show-model-warnings', '--no-show-release-notes', '--no-pretty'],
      ],
      env: { OPENAI_API_BASE: `${url}/v1`, OPENAI_API_KEY: key },
    }),
  },
  {
    id: 'open-webui',
    name: 'Open WebUI',
    model: 'gpt-4.1',
    lacks: OF_ITS_LIST,
    command: driver('open-webui.py', ({ url, key }) => ({
      OPENAI_API_BASE_URL: `${url}/v1`,
      OPENAI_API_KEY: key,
    })),
  },
];
