/**
 * Source and date of a row: a `run` of the client (docs/clients.md), its vendor's `documentation`, or `before`: older
 * versions sent it, but those of that date did not.
 */
type Source = `${'run' | 'documentation' | 'before'} ${number}-${number}-${number}`;

interface HeaderRow {
  /** In lower case; one that ends with `-*` stands for all that begin so. */
  readonly name: string;
  /** Clients that send it. */
  readonly of: string;
  readonly source: Source;
  /** Its value names a conversation, whose calls go to one target. The first such header in the table wins. */
  readonly isConversation?: true;
}

/**
 * Headers by which clients identify themselves and their work. All of them go upstream. A new header needs only a row
 * here.
 */
export const CLIENT_HEADERS = [
  { name: 'session-id', of: 'Codex; opencode with OpenAI', source: 'run 2026-11-25', isConversation: true },
  { name: 'session_id', of: 'Codex', source: 'before 2026-11-23', isConversation: true },
  { name: 'thread-id', of: 'Codex', source: 'run 2026-11-25', isConversation: true },
  { name: 'x-claude-code-session-id', of: 'Claude Code', source: 'run 2026-11-25', isConversation: true },
  { name: 'x-session-affinity', of: 'opencode', source: 'run 2026-11-23', isConversation: true },
  { name: 'x-session-id', of: 'opencode', source: 'run 2026-11-23', isConversation: true },
  { name: 'x-opencode-session', of: 'opencode', source: 'before 2026-11-23', isConversation: true },
  { name: 'conversation_id', of: 'Codex', source: 'before 2026-11-23' },
  { name: 'originator', of: 'Codex', source: 'run 2026-11-25' },
  { name: 'x-codex-*', of: 'Codex', source: 'run 2026-11-25' },
  { name: 'x-claude-code-*', of: 'Claude Code', source: 'run 2026-11-25' },
  { name: 'x-app', of: 'Claude Code', source: 'run 2026-11-25' },
  { name: 'x-session-*', of: 'opencode', source: 'run 2026-11-23' },
  { name: 'x-opencode-*', of: 'opencode', source: 'run 2026-11-23' },
  { name: 'openai-beta', of: 'OpenAI SDKs', source: 'documentation 2026-11-23' },
  { name: 'x-client-request-id', of: 'Codex, OpenAI SDKs', source: 'run 2026-11-25' },
  { name: 'anthropic-beta', of: 'Claude Code, Anthropic SDKs', source: 'run 2026-11-25' },
  { name: 'anthropic-version', of: 'Claude Code, Anthropic SDKs', source: 'run 2026-11-25' },
  {
    name: 'anthropic-dangerous-direct-browser-access',
    of: 'Claude Code, Anthropic SDKs in browsers',
    source: 'run 2026-11-25',
  },
  { name: 'x-stainless-*', of: 'OpenAI and Anthropic SDKs', source: 'run 2026-11-25' },
  { name: 'http-referer', of: 'clients of OpenRouter', source: 'documentation 2026-11-23' },
  { name: 'x-title', of: 'clients of OpenRouter', source: 'documentation 2026-11-23' },
] as const satisfies readonly HeaderRow[];

const ROWS: readonly HeaderRow[] = CLIENT_HEADERS;
const isFamily = ({ name }: HeaderRow) => name.endsWith('-*');

export const CLIENT_HEADER_NAMES: readonly string[] = ROWS.filter((row) => !isFamily(row)).map(
  ({ name }) => name,
);
/** Prefixes of header names. */
export const CLIENT_HEADER_FAMILIES: readonly string[] = ROWS.filter(isFamily).map(({ name }) =>
  name.slice(0, -1),
);
/** Headers that name a conversation; the first one sent wins. */
export const CONVERSATION_HEADERS: readonly string[] = ROWS.filter((row) => row.isConversation).map(
  ({ name }) => name,
);

/** Special treatment of single clients. It applies to everyone who sends the same. */
export const CLIENT_QUIRKS = {
  /** Retries 401, 402 and 403, and hides the message of a 429: gateway/codex.ts answers it. */
  codex: { header: 'originator', begins: /^codex/i, source: 'run 2026-11-25' },
  /** Anthropic's tool runners request a conversation at the provider. These details of the 400 make them go on without. */
  toolRunners: {
    field: 'thread',
    details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
    source: 'run 2026-11-25',
  },
  /** Cline always sends this tool to OpenAI itself, and never to a compatible provider. */
  cline: {
    tool: 'image_generation',
    advice: 'If your client always sends it, set its provider to "OpenAI Compatible"',
    setting: 'pricing.unpriced: pass',
    source: 'run 2026-11-23',
  },
} as const;
