/** The parts of a chat completion request in OpenAI's format that the demo provider reads. */
export interface ChatRequest {
  readonly model: string;
  /** Text of the last user message. */
  readonly question: string;
  readonly promptTokens: number;
  /** Most tokens of the answer; undefined if the request sets no maximum. */
  readonly maxTokens: number | undefined;
  readonly choices: number;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** The tool to call, if the request demands a call of one. */
  readonly tool: string | undefined;
}

/**
 * Tokens of a picture, a file or a piece of audio in a prompt: one number for all, so that tests can predict the usage.
 */
const TOKENS_PER_ATTACHMENT = 85;
const BYTES_PER_TOKEN = 4;

/** Number of tokens of a text by the demo's rule: one for every four UTF-8 bytes, rounded up. */
export function tokensIn(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** Longest beginning of the text that has at most `tokens` tokens and ends between characters. */
export function firstTokens(text: string, tokens: number): string {
  const bytes = Buffer.from(text);
  let end = Math.min(tokens * BYTES_PER_TOKEN, bytes.length);
  // A byte that begins with the bits 10 continues a character.
  while (end > 0 && end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString();
}

/** Reads a body; undefined if it is no JSON object with a model and a list of messages. */
export function readChatRequest(body: Buffer): ChatRequest | undefined {
  const json = parseObject(body);
  if (!json || typeof json.model !== 'string' || !Array.isArray(json.messages)) return undefined;
  const messages = json.messages.filter(isObject).map((message) => ({
    role: message.role,
    ...readContent(message.content),
  }));
  const options = isObject(json.stream_options) ? json.stream_options : {};
  const tools = Array.isArray(json.tools) ? json.tools : [];
  const toolTokens = tools.length > 0 ? tokensIn(JSON.stringify(tools)) : 0;
  return {
    model: json.model,
    question: messages.findLast(({ role }) => role === 'user')?.text ?? '',
    promptTokens: messages.reduce((sum, message) => sum + message.tokens, toolTokens),
    maxTokens: count(json.max_completion_tokens) ?? count(json.max_tokens),
    choices: count(json.n) ?? 1,
    stream: json.stream === true,
    includeUsage: options.include_usage === true,
    tool: demandedTool(tools, json.tool_choice),
  };
}

/**
 * Text and tokens of a message's content: a text, or a list of parts, if each part without text counts as an
 * attachment.
 */
export function readContent(content: unknown): { text: string; tokens: number } {
  if (typeof content === 'string') return { text: content, tokens: tokensIn(content) };
  if (!Array.isArray(content)) return { text: '', tokens: 0 };
  const texts = content.filter(isObject).flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
  const text = texts.join('\n');
  return { text, tokens: tokensIn(text) + (content.length - texts.length) * TOKENS_PER_ATTACHMENT };
}

function demandedTool(tools: readonly unknown[], choice: unknown): string | undefined {
  const names = tools
    .filter(isObject)
    .map((tool) => (isObject(tool.function) ? tool.function.name : undefined));
  const wanted = isObject(choice) && isObject(choice.function) ? choice.function.name : undefined;
  const name = choice === 'required' ? names[0] : wanted;
  return typeof name === 'string' && names.includes(name) ? name : undefined;
}

/** A whole number above 0; undefined for any other value. */
export function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

/** The JSON object in a body; undefined if it is none. */
export function parseObject(body: Buffer): Record<string, unknown> | undefined {
  try {
    const json: unknown = JSON.parse(body.toString());
    return isObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
