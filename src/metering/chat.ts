import { GatewayError } from '../domain/errors.ts';
import type { Unit } from '../domain/units.ts';
import { NO_TOOLS, type ProviderTools, type Rounds } from './bounds.ts';
import { ChatStream, chatResourceIds } from './chat-stream.ts';
import type { ContentPart } from './content-parts.ts';
import type { ElidedStrings } from './json/elided-strings.ts';
import { asText, isObject } from './json/value.ts';
import { PartCounts } from './media.ts';
import {
  CACHE_BREAKPOINT,
  CACHE_CONTROL,
  CACHE_LIFE,
  CACHE_WRITE,
  EVERYWHERE,
  membersOf,
  OPENAI_TEXTS,
  otherModelsIn,
  STREAM_OPTIONS,
} from './members.ts';
import { countOf, type InputTokens, type Meter, maximumOf, type ParsedRequest, textTokens } from './meter.ts';
import { outputTokensIn } from './output-text.ts';
import {
  checkContent,
  isSet,
  listOf,
  type RequestPlan,
  refuseModels,
  SEARCHES,
  type Surcharge,
  shown,
  toolOf,
} from './plan.ts';
import { asksLongCache, CacheLife, requestedTier } from './terms.ts';
import {
  inputUnits,
  REQUEST_OVERHEAD,
  TEXT_ONLY,
  TOOL_OVERHEAD,
  type TokenPlan,
  TURN_OVERHEAD,
  tokenCost,
} from './token-cost.ts';
import { openaiAnswers, requestedSearches, withSearches } from './usage.ts';

/** Chat messages and their parts. */
const MESSAGE = membersOf({
  free: 'detail id',
  held: `role type name content text refusal tool_calls.* function_call.* tool_call_id annotations.* cache_control
    reasoning reasoning_content reasoning_details.* thinking_blocks.* provider_specific_fields.*`,
  priced: 'audio.* image_url.* input_audio.* file.* prompt_cache_breakpoint',
  within: { content: 'self', cache_control: CACHE_CONTROL, prompt_cache_breakpoint: CACHE_BREAKPOINT },
  texts: {
    audio: '`inputAudio`, else `input`; holds the tokens behind it',
    prompt_cache_breakpoint: CACHE_WRITE,
  },
});

/** Chat tools, all run by the client. */
const CHAT_TOOL = membersOf({
  held: 'type function custom name description parameters.* strict defer_loading cache_control',
  otherModels: 'model',
  within: {
    function: membersOf({ held: 'name description parameters.* strict' }),
    custom: membersOf({ held: 'name description format.*' }),
    cache_control: CACHE_CONTROL,
  },
});

/** Chat completions: `ChatCompletionCreateParams` of openai, plus members of other vendors of the format. */
export const CHAT = membersOf({
  always: EVERYWHERE.always,
  read: 'model stream stream_options prompt_cache_key',
  priced: 'modalities audio web_search_options service_tier prompt_cache_options cache_control',
  held: `messages tools functions.* max_tokens max_completion_tokens n prediction reasoning_effort response_format
    verbosity reasoning.* thinking.*`,
  otherModels: `${EVERYWHERE.otherModels} moderation.*`,
  // OpenRouter's `plugins`, `provider` and `preset` select tools, a more expensive host, or settings unknown here. The
  // next three are web searches of xAI, Alibaba and Groq.
  fees: 'plugins provider preset search_parameters enable_search compound_custom',
  free: `frequency_penalty function_call.* logit_bias.* logprobs metadata.* parallel_tool_calls presence_penalty
    prompt_cache_retention safety_identifier seed stop store temperature tool_choice.* top_logprobs top_p
    user`,
  within: {
    messages: MESSAGE,
    tools: CHAT_TOOL,
    stream_options: STREAM_OPTIONS,
    audio: membersOf({ held: 'format voice.*' }),
    web_search_options: membersOf({ priced: 'search_context_size', free: 'user_location.*' }),
    prediction: membersOf({ held: 'type content.*' }),
    response_format: membersOf({ held: 'type json_schema.* schema.* grammar' }),
    prompt_cache_options: membersOf({ free: 'mode', priced: 'ttl', texts: { ttl: CACHE_LIFE } }),
    cache_control: CACHE_CONTROL,
  },
  texts: {
    ...OPENAI_TEXTS,
    'messages tools functions': 'a token for each byte, and a few for each message and tool',
    'max_completion_tokens max_tokens n':
      "the larger maximum, else the model's `maxOutputTokens`, times `n`; 0 names none",
    prediction: 'its bytes as output, besides the maximum',
    'reasoning_effort reasoning thinking response_format verbosity': 'as bytes and in the maximum',
    'modalities audio': '`outputAudio`, if `modalities` has `audio`',
    web_search_options: '`webSearch` for one search; holds one round of at most `limits.toolTokens`',
    cache_control: CACHE_WRITE,
  },
});

/** `/v1/chat/completions`. */
export const chat: Meter = {
  ...openaiAnswers(chatOutputTokens, (usage, body) => withSearches(usage, requestedSearches(body))),
  plan: planChat,
  stream: (injectedUsage, body) =>
    new ChatStream({
      injectedUsage,
      price: body.model.price,
      searches: requestedSearches(body),
      asksLongCache: () => asksLongCache(body),
      isInterleaved: (countOf(body, 'n') ?? 1) > 1,
      // Scanning each chunk for audio ids takes time, so only if audio was requested.
      hasSound: isObject(body.scalars.audio),
    }),
  resourceIds: chatResourceIds,
  inputTokens: chatTokens,
};

/** Approximate tokens that vendors' templates add to a message. */
const MESSAGE_TOKENS = 4;

function chatOutputTokens(answer: unknown): number {
  // Also chunks, text completions, and what other formats call the answer.
  const answers = (Array.isArray(answer) ? answer : [answer]).filter(isObject);
  return outputTokensIn(
    answers.flatMap(({ choices, output, content }) =>
      Array.isArray(choices)
        ? choices.filter(isObject).map(({ message, delta, text }) => message ?? delta ?? { text })
        : [{ output_text: output, content }],
    ),
  );
}

function chatTokens(body: ParsedRequest): InputTokens {
  const { messages, tools } = body.value;
  const texts: string[] = [];
  let framing = 0;
  if (Array.isArray(messages)) {
    framing = messages.length * MESSAGE_TOKENS;
    for (const message of messages) {
      collectText(message, texts);
      collectCalls(message, texts);
    }
  }
  if (tools !== undefined) texts.push(asText(tools));
  return { text: textTokens(body, texts.join(' ')) + framing, media: 0 };
}

function collectCalls(message: unknown, texts: string[]): void {
  const { tool_calls: calls, function_call: call } = (message ?? {}) as Record<string, unknown>;
  for (const one of [...(Array.isArray(calls) ? calls : []), { function: call }]) {
    const called = isObject(one) ? (one.function ?? one.custom) : undefined;
    if (isObject(called)) texts.push(asText(called.name), asText(called.arguments ?? called.input));
  }
}

function collectText(message: unknown, texts: string[]): void {
  const content = (message as { content?: unknown } | null)?.content;
  if (typeof content === 'string') texts.push(content);
  else if (Array.isArray(content)) {
    for (const part of content) if (typeof part?.text === 'string') texts.push(part.text);
  }
}

const TOOL_MODELS = otherModelsIn(CHAT_TOOL);
/** Client-run tool types; a tool without a type is a function. */
const CLIENT_TOOLS: ReadonlySet<unknown> = new Set([undefined, 'function', 'custom']);
/** Providers that document only `max_tokens`, so another maximum may have no effect. */
const ONLY_MAX_TOKENS: ReadonlySet<string | undefined> = new Set(['deepseek']);
const ONE_ROUND: Rounds = { named: 1, sent: 0 };
const ONE_SEARCH: ProviderTools = {
  ...NO_TOOLS,
  rounds: ONE_ROUND,
  growing: ONE_ROUND,
  searches: ONE_ROUND,
};
const SOUND_OUT: readonly Unit[] = ['outputAudio'];

/** Refuses a Responses API request: providers that accept one here answer in the shape of a response. */
function refuseResponses({ input, messages }: ParsedRequest['value']): void {
  if (!isSet(input) || isSet(messages)) return;
  throw new GatewayError(
    'endpoint_mismatch',
    'A body with "input" is a request of the Responses API. Send it to POST /v1/responses, or send "messages" here.',
    'input',
  );
}

/** Plans a chat call. Throws 400 `invalid_field` for a tool that names a model. */
function planChat(body: ParsedRequest): RequestPlan {
  const { value, model } = body;
  refuseResponses(value);
  const parts = new ChatParts(body.elidedStrings);
  parts.read(value.messages);
  const tools = listOf(value.tools, 'tools').map((tool) => toolOf(tool, 'tools', 'function'));
  const tier = requestedTier(body);
  const charges = [...chargesOf(value, tools, parts), ...tier.charges];
  // One search, since the answer does not report how many (specification section 10).
  const searches = isSet(value.web_search_options) ? 1 : 0;
  const knowsBoth = !ONLY_MAX_TOKENS.has(model.upstream.provider);
  const completion = knowsBoth ? maximumOf(body, 'max_completion_tokens') : undefined;
  const named = Math.max(maximumOf(body, 'max_tokens') ?? 0, completion ?? 0);
  const definitions = tools.length + listOf(value.functions, 'functions').length;
  const plan: TokenPlan = {
    ...TEXT_ONLY,
    textBytes: body.textBytes - parts.base64,
    overhead: REQUEST_OVERHEAD + parts.turns * TURN_OVERHEAD + definitions * TOOL_OVERHEAD,
    media: parts.media,
    maxTokens: named || undefined,
    maxField: isSet(value.max_tokens) || !knowsBoth ? 'max_tokens' : 'max_completion_tokens',
    answers: Math.max(1, countOf(body, 'n') ?? 1),
    predicted: predictedBytes(value.prediction, body.elidedStrings),
    tools: searches > 0 ? ONE_SEARCH : NO_TOOLS,
    roundsAdvice: 'leave web_search_options out',
    inputUnits: inputUnits(parts, parts.cacheLife.charge !== undefined),
    outputUnits: charges.some(({ unit }) => unit === 'outputAudio') ? SOUND_OUT : undefined,
    multiplier: tier.multiplier,
  };
  return {
    charges,
    serviceTiers: tier.serviceTiers,
    sounds: parts.sounds,
    hints: { asksLongCache: parts.cacheLife.charge !== undefined, searchesAsPreview: false },
    cost: (bounds) => tokenCost(model, plan, bounds),
  };
}

type Tool = Readonly<Record<string, unknown>>;

function chargesOf(value: ParsedRequest['value'], tools: readonly Tool[], parts: ChatParts): Surcharge[] {
  const charges: Surcharge[] = [];
  for (const tool of tools) {
    refuseModels(tool, TOOL_MODELS, 'tools');
    if (!CLIENT_TOOLS.has(tool.type ?? undefined))
      charges.push({ param: 'tools', what: `tools of type ${shown(tool.type)}` });
    parts.cacheLife.read(tool);
  }
  if (isSet(value.web_search_options)) charges.push({ param: 'web_search_options', ...SEARCHES.search });
  const isSpoken = listOf(value.modalities, 'modalities').includes('audio');
  if (isSpoken || isSet(value.audio))
    charges.push({ param: isSpoken ? 'modalities' : 'audio', what: 'audio output', unit: 'outputAudio' });
  parts.cacheLife.read(value);
  const { charge } = parts.cacheLife;
  if (charge) charges.push(charge);
  return charges;
}

/** Chat messages, whose parts don't nest. */
class ChatParts extends PartCounts {
  turns = 0;
  readonly cacheLife = new CacheLife();

  read(messages: unknown): void {
    const turns = listOf(messages, 'messages');
    this.turns = turns.length;
    for (const message of turns) {
      if (!isObject(message)) continue;
      // The id of an earlier spoken answer.
      if (message.audio) this.hasSound = true;
      this.cacheLife.read(message);
      const { content } = message;
      checkContent(content, 'messages');
      if (Array.isArray(content)) for (const part of content) if (isObject(part)) this.#part(part);
    }
  }

  #part(part: ContentPart): void {
    this.add(part);
    this.cacheLife.read(part);
  }
}

/** UTF-8 bytes of a predicted answer, a text or a list of text parts. */
function predictedBytes(prediction: unknown, elidedStrings: ElidedStrings | undefined): number {
  if (!isObject(prediction)) return 0;
  const { content } = prediction;
  const texts = Array.isArray(content)
    ? content.map((part: { text?: unknown } | null) => part?.text)
    : [content];
  let bytes = 0;
  for (const text of texts) {
    if (typeof text !== 'string') continue;
    bytes += elidedStrings?.get(text)?.bytes ?? Buffer.byteLength(text);
  }
  return bytes;
}
