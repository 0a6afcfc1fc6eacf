import { CHAT, MESSAGES, RESPONSES } from './cheapest.ts';

/** What the text of a snippet names. */
interface Names {
  /** Address of the gateway, without a slash at its end. */
  readonly origin: string;
  readonly model: string;
  /** The key as a shell, Python and JavaScript write it. */
  readonly shell: string;
  readonly python: string;
  readonly script: string;
  /** Lines that must stand before the others in a shell, or in Python. */
  readonly exported: string;
  readonly imported: string;
}

/** How to use a key in one client: a text that works alone (docs/clients.md). */
export interface Snippet {
  readonly name: string;
  /** Where the text goes. */
  readonly hint: string;
  /** Path of the calls of this client. */
  readonly path: string;
  readonly text: (names: Names) => string;
}

/** Environment variable that the snippets read a key from. */
const VARIABLE = 'TOLLGATE_API_KEY';

/**
 * Text of a snippet. `value` is that of a new key; without it, the text reads an environment variable, so that no key
 * ends up in code or in a history.
 */
export function snippetText(
  { text }: Snippet,
  origin: string,
  model: string,
  value: string | undefined,
): string {
  const names = { origin, model };
  if (value === undefined) {
    return text({
      ...names,
      shell: `$${VARIABLE}`,
      python: `os.environ["${VARIABLE}"]`,
      script: `process.env.${VARIABLE}`,
      exported: '',
      imported: 'import os\n\n',
    });
  }
  return text({
    ...names,
    shell: value,
    python: `"${value}"`,
    script: `'${value}'`,
    exported: `export ${VARIABLE}=${value}\n`,
    imported: '',
  });
}

export const SNIPPETS: readonly [Snippet, ...Snippet[]] = [
  {
    name: 'curl',
    hint: 'Run it in a shell.',
    path: CHAT,
    text: ({ origin, shell, model }) => `curl ${origin}/v1/chat/completions \\
  -H "Authorization: Bearer ${shell}" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"${model}","messages":[{"role":"user","content":"Hello!"}]}'`,
  },
  {
    name: 'Python',
    hint: 'After pip install openai.',
    path: CHAT,
    text: ({ origin, python, imported, model }) => `${imported}from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key=${python})
answer = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello!"}],
)
print(answer.choices[0].message.content)`,
  },
  {
    name: 'TypeScript',
    hint: 'After npm install openai.',
    path: CHAT,
    text: ({ origin, script, model }) => `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: ${script} });
const answer = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'Hello!' }],
});
console.log(answer.choices[0]?.message.content);`,
  },
  {
    name: 'Anthropic Python',
    hint: 'After pip install anthropic.',
    path: MESSAGES,
    text: ({ origin, python, imported, model }) => `${imported}from anthropic import Anthropic

client = Anthropic(base_url="${origin}", api_key=${python})
answer = client.messages.create(
    model="${model}",
    max_tokens=256,
    messages=[{"role": "user", "content": "Hello!"}],
)
print(answer.content[0].text)`,
  },
  {
    name: 'Anthropic TypeScript',
    hint: 'After npm install @anthropic-ai/sdk.',
    path: MESSAGES,
    text: ({ origin, script, model }) => `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: '${origin}', apiKey: ${script} });
const answer = await client.messages.create({
  model: '${model}',
  max_tokens: 256,
  messages: [{ role: 'user', content: 'Hello!' }],
});
console.log(answer.content);`,
  },
  {
    name: 'Claude Code',
    hint: 'Set these in the shell that starts claude.',
    path: MESSAGES,
    text: ({ origin, shell, model }) => `export ANTHROPIC_BASE_URL=${origin}
export ANTHROPIC_AUTH_TOKEN="${shell}"
export ANTHROPIC_MODEL=${model}
export CLAUDE_CODE_MAX_OUTPUT_TOKENS=8000
claude`,
  },
  {
    name: 'Codex',
    hint: 'Run it in a shell. It changes no settings.',
    path: RESPONSES,
    text: ({ origin, exported, model }) => `${exported}codex -c model='"${model}"' \\
  -c model_provider='"tollgate"' -c web_search='"disabled"' \\
  -c 'model_providers.tollgate={name="Tollgate",base_url="${origin}/v1",env_key="${VARIABLE}",wire_api="responses"}'`,
  },
  {
    name: 'Environment',
    hint: 'Most programs read these variables.',
    path: CHAT,
    text: ({ origin, shell }) => `export OPENAI_BASE_URL=${origin}/v1
export OPENAI_API_KEY="${shell}"
export ANTHROPIC_BASE_URL=${origin}
export ANTHROPIC_API_KEY="${shell}"`,
  },
];
