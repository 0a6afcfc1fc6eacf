/** How to use a key in one client: a text that works alone, with the base URL and the key's value in it. */
export interface Snippet {
  readonly name: string;
  /** Where the text goes. */
  readonly hint: string;
  readonly text: string;
}

/** Models that the snippets name. */
export interface SnippetModels {
  readonly chat: string;
  readonly messages: string;
}

/** The snippets for a key (docs/clients.md). `origin`: address of the gateway without a slash at its end. */
export function snippetsOf(origin: string, key: string, models: SnippetModels): readonly Snippet[] {
  const { chat, messages } = models;
  return [
    {
      name: 'curl',
      hint: 'Run it in a shell.',
      text: `curl ${origin}/v1/chat/completions \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  -d '{"model":"${chat}","messages":[{"role":"user","content":"Hello!"}]}'`,
    },
    {
      name: 'Python',
      hint: 'After pip install openai.',
      text: `from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key="${key}")
answer = client.chat.completions.create(
    model="${chat}",
    messages=[{"role": "user", "content": "Hello!"}],
)
print(answer.choices[0].message.content)`,
    },
    {
      name: 'TypeScript',
      hint: 'After npm install openai.',
      text: `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: '${key}' });
const answer = await client.chat.completions.create({
  model: '${chat}',
  messages: [{ role: 'user', content: 'Hello!' }],
});
console.log(answer.choices[0]?.message.content);`,
    },
    {
      name: 'Anthropic Python',
      hint: 'After pip install anthropic.',
      text: `from anthropic import Anthropic

client = Anthropic(base_url="${origin}", api_key="${key}")
answer = client.messages.create(
    model="${messages}",
    max_tokens=256,
    messages=[{"role": "user", "content": "Hello!"}],
)
print(answer.content[0].text)`,
    },
    {
      name: 'Anthropic TypeScript',
      hint: 'After npm install @anthropic-ai/sdk.',
      text: `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: '${origin}', apiKey: '${key}' });
const answer = await client.messages.create({
  model: '${messages}',
  max_tokens: 256,
  messages: [{ role: 'user', content: 'Hello!' }],
});
console.log(answer.content);`,
    },
    {
      name: 'Claude Code',
      hint: 'Set these in the shell that starts claude.',
      text: `export ANTHROPIC_BASE_URL=${origin}
export ANTHROPIC_AUTH_TOKEN=${key}
export ANTHROPIC_MODEL=${messages}
export CLAUDE_CODE_MAX_OUTPUT_TOKENS=8000
claude`,
    },
    {
      name: 'Codex',
      hint: 'Run it in a shell. It changes no settings.',
      text: `export TOLLGATE_KEY=${key}
codex -c model='"${chat}"' -c model_provider='"tollgate"' -c web_search='"disabled"' \\
  -c 'model_providers.tollgate={name="Tollgate",base_url="${origin}/v1",env_key="TOLLGATE_KEY",wire_api="responses"}'`,
    },
    {
      name: 'Environment',
      hint: 'Most programs read these variables.',
      text: `export OPENAI_BASE_URL=${origin}/v1
export OPENAI_API_KEY=${key}
export ANTHROPIC_BASE_URL=${origin}
export ANTHROPIC_API_KEY=${key}`,
    },
  ];
}
