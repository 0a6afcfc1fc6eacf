/**
 * Kind of a tool, by its cost beyond its definition. `client`: none, since the client runs it. `free`: the provider runs it,
 * and the model reads what it finds, without a fee. `search`: as `free`, with a fee for each web search. `model`: another
 * model runs.
 * `fee`: the provider runs it for a fee that no unit charges, or nobody knows what it is.
 */
export type ToolKind = 'client' | 'free' | 'search' | 'model' | 'fee';

type Tool = Readonly<Record<string, unknown>>;

/** OpenAI's Responses (`Tool` in openai's resources/responses/responses.d.ts). Types that are not here have a fee. */
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
  ['tool_search', ({ execution }) => (execution === 'client' ? 'client' : 'free')],
  ['shell', ({ environment }) => (typeOf(environment) === 'local' ? 'client' : 'fee')],
  ['mcp', 'free'],
  ['web_search', 'search'],
  ['web_search_preview', 'search'],
]);

/** The kind of a tool of the Responses API. */
export function responsesToolKind(tool: Tool): ToolKind {
  const { type } = tool;
  // Versions of the web search end in a date.
  const known =
    RESPONSES.get(type) ?? (typeof type === 'string' && type.startsWith('web_search') ? 'search' : 'fee');
  return typeof known === 'function' ? known(tool) : known;
}

/** Anthropic's Messages (`BetaToolUnion` in @anthropic-ai/sdk's resources/beta/messages/messages.d.ts), by how types begin. */
const MESSAGES: readonly (readonly [RegExp, ToolKind])[] = [
  [/^(custom$|bash_|text_editor_|computer_|memory_|browser_)/, 'client'],
  // It searches the tools that the request itself defines.
  [/^tool_search_tool_/, 'client'],
  [/^web_search_/, 'search'],
  [/^(web_fetch_|mcp_toolset$)/, 'free'],
  [/^advisor_/, 'model'],
];

/** The kind of a tool of the Messages API. A tool without a type is the client's own. */
export function messagesToolKind({ type }: Tool): ToolKind {
  if (type === undefined || type === null) return 'client';
  if (typeof type !== 'string') return 'fee';
  return MESSAGES.find(([begins]) => begins.test(type))?.[1] ?? 'fee';
}

function typeOf(value: unknown): unknown {
  return (value as { type?: unknown } | null | undefined)?.type;
}
