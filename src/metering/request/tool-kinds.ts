/**
/**
 * Kind of a tool, by its cost beyond its definition. `client`: none, since the client runs it. `listed`: the provider finds
 * tools among those of the request, so each use is one more pass and adds no text. `free`: the provider runs it, and the
 * model reads what it finds, without a fee. `open`: as `free`, and nothing bounds how much that is. `search` and `preview`: as
 * `free`, with a fee for each web search, which is another one for tools of the type `web_search_preview…`. `model`: another
 * model runs.
 * `fee`: the provider runs it for a fee that no unit charges, or nobody knows what it is.
 */
export type ToolKind = 'client' | 'listed' | 'free' | 'open' | 'search' | 'preview' | 'model' | 'fee';

type Tool = Readonly<Record<string, unknown>>;

/**
 * OpenAI's Responses (`Tool` in openai's resources/responses/responses.d.ts). Types that are not here are new, and count as
 * having a fee.
 */
const RESPONSES: ReadonlyMap<unknown, ToolKind | ((tool: Tool) => ToolKind)> = new Map<
  unknown,
  ToolKind | ((tool: Tool) => ToolKind)
>([
  ['function', 'client'],
  ['custom', 'client'],
  ['local_shell', 'client'],
  ['apply_patch', 'client'],
  ['computer', 'client'],
  ['computer_use_preview', 'client'],
  // A group of functions of the client.
  ['namespace', 'client'],
  ['tool_search', ({ execution }) => (execution === 'client' ? 'client' : 'listed')],
  ['shell', ({ environment }) => (typeOf(environment) === 'local' ? 'client' : 'fee')],
  ['mcp', 'open'],
  // Storage and a fee for each use; containers by the hour; pictures.
  ['file_search', 'fee'],
  ['code_interpreter', 'fee'],
  ['programmatic_tool_calling', 'fee'],
  ['image_generation', 'fee'],
]);

/** Whether a type of tools of the Responses API has a kind of its own here. */
export function knowsResponsesTool(type: string): boolean {
  return RESPONSES.has(type) || type.startsWith('web_search');
}

/** The kind of a tool of the Responses API. */
export function responsesToolKind(tool: Tool): ToolKind {
  const { type } = tool;
  const known = RESPONSES.get(type) ?? searchKind(type);
  return typeof known === 'function' ? known(tool) : known;
}

/** Versions of the web search end in a date. */
function searchKind(type: unknown): ToolKind {
  if (typeof type !== 'string' || !type.startsWith('web_search')) return 'fee';
  return type.startsWith('web_search_preview') ? 'preview' : 'search';
}

/** Anthropic's Messages (`BetaToolUnion` in @anthropic-ai/sdk's resources/beta/messages/messages.d.ts), by how types begin. */
const MESSAGES: readonly (readonly [RegExp, ToolKind])[] = [
  [/^(custom$|bash_|text_editor_|computer_|memory_|browser_)/, 'client'],
  [/^tool_search_tool_/, 'listed'],
  [/^web_search_/, 'search'],
  [/^web_fetch_/, 'free'],
  [/^mcp_toolset$/, 'open'],
  [/^advisor_/, 'model'],
  // Containers by the hour.
  [/^code_execution_/, 'fee'],
];

/** Whether a type of tools of the Messages API has a kind of its own here. */
export function knowsMessagesTool(type: string): boolean {
  return MESSAGES.some(([begins]) => begins.test(type));
}

/** The kind of a tool of the Messages API. A tool without a type is the client's own. */
export function messagesToolKind({ type }: Tool): ToolKind {
  if (type === undefined || type === null) return 'client';
  if (typeof type !== 'string') return 'fee';
  return MESSAGES.find(([begins]) => begins.test(type))?.[1] ?? 'fee';
}

/** Members of a tool that bound what the provider does with it. */
export type ToolBound = 'max_uses' | 'max_content_tokens';

const USES: readonly ToolBound[] = ['max_uses'];
const USES_AND_CONTENT: readonly ToolBound[] = ['max_uses', 'max_content_tokens'];
const UNBOUNDED: readonly ToolBound[] = [];

/** The members that bound a tool of the Messages API; none for one whose rounds nothing bounds. */
export function messagesToolBounds({ type }: Tool): readonly ToolBound[] {
  const name = String(type);
  if (/^web_fetch_/.test(name)) return USES_AND_CONTENT;
  return /^(?:web_search_|advisor_)/.test(name) ? USES : UNBOUNDED;
}

function typeOf(value: unknown): unknown {
  return (value as { type?: unknown } | null | undefined)?.type;
}
