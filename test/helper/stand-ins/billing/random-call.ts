import type { Leave } from '../../clients/leaving-client.ts';
import type { Random } from './random.ts';

export interface RandomCall {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly leave: Leave;
}

const PDF = `data:application/pdf;base64,${Buffer.from('%PDF-1.7 not much of one').toString('base64')}`;
const PICTURE = 'data:image/png;base64,iVBORw0KGgo=';
const SEARCH = { type: 'web_search' };
const MCP = {
  type: 'mcp',
  server_label: 's',
  server_url: 'https://mcp.example.com',
  require_approval: 'never',
};

/** A call of any format, possibly with files, tools of the provider and a client that leaves. `owner` is its user. */
export function randomCall(owner: string, random: Random): RandomCall {
  const call = random.of([chat, responses, responses, messages, messages])(owner, random);
  const body = random.chance(0.6) ? { ...call.body, stream: true } : call.body;
  return { ...call, body, leave: leaveAt(random) };
}

function leaveAt(random: Random): Leave {
  return random.of<Leave>([
    'never',
    'never',
    'never',
    'never',
    'sent',
    'head',
    'END',
    { afterBytes: random.upTo(1_000) },
    { afterMs: random.upTo(600) },
  ]);
}

const text = (random: Random) => 'word '.repeat(random.chance(0.1) ? random.upTo(6_000) : random.upTo(400));
const most = (random: Random, name: string) => (random.chance(0.8) ? { [name]: 1 + random.upTo(2_000) } : {});
const some = <T>(random: Random, ...all: readonly T[]) => all.filter(() => random.chance(0.3));

type Drawn = Omit<RandomCall, 'leave'>;

function chat(user: string, random: Random): Drawn {
  const parts = [
    { type: 'text', text: text(random) },
    ...some(
      random,
      { type: 'image_url', image_url: { url: PICTURE } },
      { type: 'file', file: { filename: 'a.pdf', file_data: PDF } },
    ),
  ];
  return {
    path: '/v1/chat/completions',
    body: {
      model: 'openai-like',
      user,
      messages: [{ role: 'user', content: parts }],
      ...most(random, 'max_completion_tokens'),
      ...(random.chance(0.2) ? { n: 2 } : {}),
      ...(random.chance(0.2) ? { web_search_options: {} } : {}),
      ...(random.chance(0.2) ? { service_tier: 'flex' } : {}),
    },
  };
}

function responses(user: string, random: Random): Drawn {
  const parts = [
    { type: 'input_text', text: text(random) },
    ...some(
      random,
      { type: 'input_image', image_url: 'https://example.com/a.png' },
      { type: 'input_file', file_url: 'https://example.com/a.pdf' },
      { type: 'input_file', filename: 'b.pdf', file_data: PDF },
    ),
  ];
  const tools = random.chance(0.3) ? [SEARCH] : random.chance(0.1) ? [MCP] : [];
  return {
    path: '/v1/responses',
    body: {
      model: 'openai-like',
      user,
      store: false,
      input: [{ type: 'message', role: 'user', content: parts }],
      tools,
      ...most(random, 'max_output_tokens'),
      ...(random.chance(0.3) ? { max_tool_calls: 1 + random.upTo(3) } : {}),
      ...(random.chance(0.2) ? { service_tier: 'flex' } : {}),
      ...(random.chance(0.2) ? { prompt_cache_options: { ttl: '12h' } } : {}),
    },
  };
}

function messages(user_id: string, random: Random): Drawn {
  const control = random.chance(0.2) ? { cache_control: { type: 'ephemeral', ttl: '1h' } } : {};
  const parts = [
    { type: 'text', text: text(random), ...control },
    ...some(
      random,
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
      { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
    ),
  ];
  const uses = () => (random.chance(0.4) ? { max_uses: 1 + random.upTo(2) } : {});
  return {
    path: '/v1/messages',
    body: {
      model: 'anthropic-like',
      metadata: { user_id },
      messages: [{ role: 'user', content: parts }],
      max_tokens: 1 + random.upTo(2_000),
      tools: some<object>(
        random,
        { type: 'web_search_20250305', name: 'web_search', ...uses() },
        { type: 'web_fetch_20260318', name: 'web_fetch', ...uses() },
        { name: 'own', input_schema: { type: 'object' } },
      ),
    },
  };
}
