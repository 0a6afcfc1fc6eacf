import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.ts';
import type { Catalog } from '../../src/domain/catalog.ts';
import { creditsString } from '../../src/domain/credits.ts';
import { askedOf, type Path } from './asked.ts';

const ROOT = new URL('../..', import.meta.url).pathname;

/** The models of the shipped configuration with the credentials of every provider set. */
export function shippedCatalog(): Catalog {
  const file = join(ROOT, 'config/gateway.yaml');
  const names = [...readFileSync(file, 'utf8').matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name);
  const env = Object.fromEntries(
    names.map((name) => [name, name.endsWith('URL') ? 'https://example.com' : 'secret']),
  );
  return loadConfig({ env, file }).catalog;
}

const TOOLS = [{ type: 'function', name: 'exec_command', parameters: {} }];
const SEARCH = { type: 'web_search', external_web_access: false };
const FINDER = { type: 'tool_search', execution: 'client', description: 'Finds tools', parameters: {} };
const GROUP = { type: 'namespace', name: 'mcp', description: 'Tools of a server', tools: TOOLS };

/** The first call of a client, "hi", as it sends it: its fields and tools, and text of as many bytes. */
export interface ClientCall {
  readonly path: Path;
  readonly model: string;
  readonly bytes: number;
  readonly body: Record<string, unknown>;
}

const codex = (model: string, ...more: readonly object[]): ClientCall => ({
  path: '/v1/responses',
  model,
  bytes: 38_000,
  body: { store: false, stream: true, reasoning: { effort: 'medium' }, tools: [...TOOLS, GROUP, ...more] },
});

const EDITS = { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] };
const claudeCode = (model: string, more: object = { context_management: EDITS }): ClientCall => ({
  path: '/v1/messages',
  model,
  bytes: 50_000,
  body: {
    max_tokens: 128_000,
    stream: true,
    tools: [{ name: 'Bash', input_schema: {} }],
    ...more,
  },
});

const opencode = (model: string): ClientCall => ({
  path: model.startsWith('claude') ? '/v1/messages' : '/v1/chat/completions',
  model,
  bytes: 30_000,
  body: { max_tokens: 32_000, stream: true, tools: [{ name: 'bash', type: 'custom' }] },
});

const webSearch = (more: object = {}) => ({
  tools: [{ type: 'web_search_20250305', name: 'web_search', ...more }],
});

/** By the words of the table in docs/charges.md. */
export const CLIENT_CALLS: Readonly<Record<string, ClientCall>> = {
  'Codex, gpt-5.5': codex('gpt-5.5', SEARCH, FINDER),
  'Codex, gpt-5.5, without web_search': codex('gpt-5.5', FINDER),
  'Codex, gpt-5': codex('gpt-5', SEARCH, FINDER),
  'Codex, gpt-5.4-mini': codex('gpt-5.4-mini', SEARCH, FINDER),
  'Codex, gpt-6-astra': codex('gpt-6-astra', SEARCH, FINDER),
  'Claude Code, claude-opus-5-5': claudeCode('claude-opus-5-5'),
  'Claude Code, claude-fable-5-1': claudeCode('claude-fable-5-1'),
  'Claude Code, claude-opus-5': claudeCode('claude-opus-5'),
  'Claude Code, claude-sonnet-5-5': claudeCode('claude-sonnet-5-5'),
  'Claude Code, claude-haiku-5-5': claudeCode('claude-haiku-5-5'),
  'Claude Code, claude-opus-5-5, 600 kB of history': {
    ...claudeCode('claude-opus-5-5'),
    bytes: 650_000,
  },
  'Claude Code, claude-opus-5-5, web_search with max_uses 8': claudeCode(
    'claude-opus-5-5',
    webSearch({ max_uses: 8 }),
  ),
  'Claude Code, claude-opus-5-5, web_search': claudeCode('claude-opus-5-5', webSearch()),
  'opencode, gpt-5.5': opencode('gpt-5.5'),
  'opencode, claude-sonnet-5': opencode('claude-sonnet-5'),
  'opencode, gpt-4.1-mini': opencode('gpt-4.1-mini'),
};

/** What a client's call holds and is estimated at, in credits with two decimals, rounded up. */
export function heldBy(call: ClientCall, catalog: Catalog): { hold: string; estimate: string } {
  const model = catalog.get(call.model);
  if (!model) throw new Error(`no model ${call.model}`);
  const said = (text: string) =>
    call.path === '/v1/responses'
      ? { ...call.body, input: [{ role: 'user', content: text }] }
      : { ...call.body, messages: [{ role: 'user', content: text }] };
  const empty = JSON.stringify({ model: model.slug, ...said('') }).length;
  const asked = askedOf(call.path, model, said('a'.repeat(Math.max(0, call.bytes - empty))));
  const { hold, estimate } = asked.cost({
    imageTokens: 20_000,
    contextTokens: 1_000_000,
    toolRounds: 3,
    toolTokens: 50_000,
  });
  const cents = (micros: number) =>
    creditsString((Math.ceil(micros / 10_000) * 10_000) as typeof hold).slice(0, -4);
  return { hold: cents(hold), estimate: cents(estimate) };
}
