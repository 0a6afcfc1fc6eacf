import type { Terms } from '../domain/bill.ts';
import { invalidField } from '../domain/errors.ts';
import type { Usage } from '../domain/units.ts';
import { NO_ROUNDS, NO_TOOLS, type ProviderTools, type Rounds } from './bounds.ts';
import { contentParts, readable } from './content-parts.ts';
import type { Shape } from './json/sieve.ts';
import { asText, isObject } from './json/value.ts';
import { PartCounts } from './media.ts';
import {
  CACHE_BREAKPOINT,
  CACHE_LIFE,
  CACHE_WRITE,
  EVERYWHERE,
  membersOf,
  OPENAI_TEXTS,
  STREAM_OPTIONS,
} from './members.ts';
import {
  countOf,
  type EventAction,
  type InputTokens,
  type Meter,
  maximumOf,
  type ParsedRequest,
  textTokens,
} from './meter.ts';
import { outputTokensIn, TextStream } from './output-text.ts';
import {
  checkContent,
  type FieldToSet,
  listOf,
  NONE,
  type RequestPlan,
  type Surcharge,
  shown,
  wholeNumberOf,
} from './plan.ts';
import { encryptedBytes, encryptedId, encryptedIds, tokensOfEncrypted } from './reasoning.ts';
import { eventData, eventFailed, eventName, mayFail, saysDone } from './sse/event.ts';
import { CacheLife, openaiTerms, requestedTier } from './terms.ts';
import {
  COMPACTS_AT,
  inputUnits,
  REQUEST_OVERHEAD,
  TEXT_ONLY,
  TOOL_OVERHEAD,
  type TokenPlan,
  TURN_OVERHEAD,
  tokenCost,
} from './token-cost.ts';
import { responsesToolKind, type ToolFormat, ToolTally } from './tools.ts';
import {
  isSearch,
  openaiAnswers,
  type PricedRequest,
  readingOf,
  reportedSearches,
  withSearchesOf,
} from './usage.ts';
import { type ReportedUsage, wholeUsage, withEarlyReport, withReported } from './usage-report.ts';

/** Tools of the Responses API; tools.ts has their types. */
const RESPONSES_TOOL = membersOf({
  held: `type name description parameters.* strict input_schema.* output_schema.* format.* annotations.* allowed_callers
    async defer_loading execution tools server_label server_url server_description connector_id tunnel_id headers.*
    authorization allowed_tools.* require_approval.* display_height display_width environment.* namespace`,
  priced: 'search_context_size search_content_types user_location.* external_web_access',
  // For tools refused by their type.
  refused: `container.* vector_store_ids max_num_results ranking_options.* action background complexity frame_count
    frame_duration_ms input_fidelity input_image_mask.* moderation output_compression output_format partial_images quality
    size`,
  otherModels: 'model svg.*',
  // Domains of web searches, attributes of file searches.
  free: 'filters.*',
  within: { tools: 'self' },
});

const TOOLS: ToolFormat = { members: RESPONSES_TOOL, kindOf: responsesToolKind, identity: 'function' };

/** Input items and their parts. */
const ITEM = membersOf({
  held: `type role id status phase content text.* refusal summary name namespace arguments input output call_id caller.*
    action.* actions.* operation.* result results.* queries reason approve approval_request_id server_label tools
    annotations.* logprobs.* encrypted_content code outputs.* stdout stderr outcome.* max_output_length environment.*
    execution async reasoning fingerprint error.* revised_prompt acknowledged_safety_checks.* pending_safety_checks.*
    container_id internal_chat_message_metadata_passthrough.*`,
  priced: 'image_url file_id file_url file_data filename detail input_audio.* prompt_cache_breakpoint',
  // For images generated earlier.
  free: 'background quality size output_format svg_usage.*',
  within: {
    content: 'self',
    summary: 'self',
    output: 'self',
    tools: RESPONSES_TOOL,
    reasoning: membersOf({ held: 'effort' }),
    prompt_cache_breakpoint: CACHE_BREAKPOINT,
  },
  texts: { prompt_cache_breakpoint: CACHE_WRITE },
});

/** Responses: `ResponseCreateParams` of openai. */
export const RESPONSES = membersOf({
  always: EVERYWHERE.always,
  read: 'model stream stream_options prompt_cache_key',
  priced: 'service_tier prompt_cache_options',
  held: `input instructions tools max_output_tokens max_tool_calls reasoning text previous_response_id
    context_management`,
  otherModels: `${EVERYWHERE.otherModels} moderation.*`,
  fees: 'provider plugins preset',
  unreported: 'background',
  // They name objects that another account may own.
  refused: 'prompt.* conversation.*',
  free: `access_programs image include metadata.* client_metadata.* parallel_tool_calls
    prompt_cache_retention safety_identifier store temperature tool_choice.* top_logprobs top_p truncation user`,
  within: {
    input: ITEM,
    tools: RESPONSES_TOOL,
    stream_options: STREAM_OPTIONS,
    reasoning: membersOf({
      held: 'effort summary generate_summary context',
      refused: 'mode',
      texts: { mode: 'any but `standard`' },
    }),
    text: membersOf({ held: 'format.* verbosity' }),
    access_programs: membersOf({ free: 'cyber' }),
    image: membersOf({ free: 'context_compression' }),
    context_management: membersOf({ held: 'type compact_threshold' }),
    prompt_cache_options: membersOf({
      free: 'mode comparison_response_id',
      priced: 'ttl',
      held: 'prewarm',
      texts: { ttl: CACHE_LIFE },
    }),
  },
  texts: {
    ...OPENAI_TEXTS,
    'input instructions text tools': 'a token for each byte, and a few for each item and tool',
    'max_output_tokens reasoning':
      "the maximum, which includes reasoning, else the model's `maxOutputTokens`; 0 names none",
    max_tool_calls:
      'that many rounds of tools that the provider runs; 0 names none. Without it, the gateway sends `limits.toolRounds` (3)',
    previous_response_id: 'the tokens behind it, or a whole context if unknown',
    context_management:
      'one more context and answer, if the input can reach `compact_threshold` (default 150,000 tokens)',
    'prompt conversation': 'no account owns one here (404 `object_not_found`)',
  },
});

const TURN_TOKENS = 4;
/** Events that end a stream; their response has the usage. */
const TERMINAL: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  // Codex's backend and its relays.
  'response.done',
  'response.cancelled',
]);
/** Deltas of audio, not text: `response.audio.delta`, `response.output_audio.delta`. */
const AUDIO = /audio\.delta$/;

/** `/v1/responses` and `/v1/responses/compact`. */
export const responses: Meter = {
  ...openaiAnswers(
    (answer) => outputTokensIn(itemsOf(answer)),
    (usage, body, answer) => withSearchesOf(body, usage, searchesOf(answer)),
  ),
  plan: planResponses,
  failed: (answer) => isObject(answer) && answer.status === 'failed',
  resourceIds: responsesResourceIds,
  stream: (_injectedUsage, body) => new ResponsesStream(body),
  inputTokens: requestTokens,
};

function requestTokens(body: ParsedRequest): InputTokens {
  const { input, instructions, tools } = body.value;
  const { text, mediaTokens } = readable(contentParts(input));
  const texts = [typeof input === 'string' ? input : text, asText(instructions), asText(tools)];
  const turns = Array.isArray(input) ? input.length : 1;
  return { text: textTokens(body, texts.join(' ')) + turns * TURN_TOKENS, media: mediaTokens };
}

/** Searches of a response: as reported, or else counted among its items. `seen`: searches among earlier items. */
function searchesOf(response: unknown, seen = 0): number {
  // A provider may omit items already sent.
  return reportedSearches(response) ?? Math.max(seen, itemsOf(response).filter(isSearch).length);
}

/** Measures a stream of `/v1/responses`. */
export class ResponsesStream extends TextStream {
  readonly #body: PricedRequest;
  /** Pieces of output text at the start of the last item. */
  #piecesBefore = 0;
  /** The event that ends the stream has come. */
  #isEnded = false;
  #hasItems = false;
  /** From the last event: the first ones repeat the requested terms. */
  terms: Terms = {};
  /** Searches completed so far. */
  #searches = 0;
  #encryptedBytes = 0;
  /** Ids of encrypted items so far. */
  readonly #encrypted: string[] = [];
  resourceIds: readonly string[] = [];

  constructor(body: PricedRequest) {
    super();
    this.#body = body;
  }

  get usage(): Usage | undefined {
    const usage = this.#isEnded ? wholeUsage(this.#reported) : undefined;
    return usage && withSearchesOf(this.#body, usage, this.#searches);
  }

  get #reported(): ReportedUsage {
    return this.usageBy(readingOf(this.#body, () => this.text.pieces > 0));
  }

  /** A delta or an item has come, or the end of a response that did not fail. */
  get hasAnswer(): boolean {
    return this.text.pieces > 0 || this.#hasItems || (this.#isEnded && !this.failed);
  }

  /** Always false: read only before the final event. */
  readonly isWhole = false;

  get hiddenTokens(): number {
    return tokensOfEncrypted(this.#encryptedBytes);
  }

  get kept(): Shape {
    const action = { type: 'all' } as const;
    const kept = {
      id: 'all',
      store: 'all',
      status: 'all',
      error: 'all',
      usage: 'all',
      tool_usage: 'all',
      service_tier: 'all',
    } as const;
    const response = { ...kept, output: [{ type: 'all', id: 'all', container_id: 'all', action }] } as const;
    return { type: 'all', error: 'all', delta: this.text, item: { type: 'all', action }, response };
  }

  /** Adds the searches to an estimate without reported usage. */
  mergeReported(estimate: Usage): Usage {
    const usage = (this.#isEnded ? withReported : withEarlyReport)(estimate, this.#reported);
    return withSearchesOf(this.#body, usage, this.#searches);
  }

  event(event: string): EventAction {
    if (saysDone(event)) return 'end';
    const name = eventName(event);
    if (name.endsWith('.delta')) {
      if (!AUDIO.test(name)) this.text.collect(event, '"delta"');
      return 'pass';
    }
    const isNamedEnd = TERMINAL.has(name);
    if (!isNamedEnd && name !== '' && !mayFail(event) && !event.includes('"usage"')) {
      this.#item(name, event);
      return 'pass';
    }
    const data = eventData(event);
    // A response may also come whole, without a name.
    const isResponse = name === '' && Array.isArray(data?.output);
    const response = isResponse ? data : data?.response;
    const status = isObject(response) ? response.status : undefined;
    const isTerminal = isNamedEnd || isResponse;
    this.failed = eventFailed(event) || name === 'response.failed' || (isTerminal && status === 'failed');
    this.take(data);
    this.#isEnded ||= isTerminal || this.failed;
    if (!isTerminal) {
      this.#item(name, event);
      return this.failed ? 'end' : 'pass';
    }
    const output = isObject(response) ? response.output : undefined;
    this.terms = openaiTerms(response, this.#body.model.price);
    this.#searches = searchesOf(response, this.#searches);
    // A provider may omit items already sent.
    this.resourceIds = [...new Set([...responsesResourceIds(response, this.#body), ...this.#encrypted])];
    // A provider may send neither deltas nor usage.
    if (!this.usage && this.text.pieces === 0) this.text.collectValue(asText(output));
    return 'end';
  }

  #encryptedItem(item: unknown): void {
    this.#encryptedBytes += encryptedBytes(item);
    const id = this.#body.hints?.hasTargets ? encryptedId(item) : undefined;
    if (id !== undefined) this.#encrypted.push(id);
  }

  /** Reads events other than deltas: tool arguments without deltas appear only in the whole item. */
  #item(name: string, event: string): void {
    if (name.startsWith('response.output_item.')) this.#hasItems = true;
    if (name === 'response.output_item.added') this.#piecesBefore = this.text.pieces;
    if (name !== 'response.output_item.done') return;
    if (event.includes('encrypted')) this.#encryptedItem(eventData(event)?.item);
    if (event.includes('web_search_call') && isSearch(eventData(event)?.item)) this.#searches++;
    if (this.text.pieces === this.#piecesBefore) this.text.collect(event, '"item"');
    this.#piecesBefore = this.text.pieces;
  }
}

/**
 * Ids that the provider stores: those of the response, its items and its tool containers. If the model has several
 * targets, also ids of reasoning that only this provider can decrypt.
 */
export function responsesResourceIds(response: unknown, { hints }: Pick<PricedRequest, 'hints'>): string[] {
  const ids: unknown[] = [];
  // With `store: false` the provider stores nothing.
  if (isObject(response) && response.store !== false) {
    ids.push(response.id);
    for (const item of itemsOf(response)) {
      ids.push(item.id, item.container_id);
      if (isObject(item.environment)) ids.push(item.environment.container_id);
    }
  }
  if (hints?.hasTargets) ids.push(...encryptedIds(itemsOf(response)));
  return [...new Set(ids.filter((id): id is string => typeof id === 'string' && id !== ''))];
}

function itemsOf(response: unknown): Record<string, unknown>[] {
  const output = isObject(response) ? response.output : undefined;
  return Array.isArray(output) ? output.filter(isObject) : [];
}

/**
 * Plans a responses call. Throws 400 `invalid_field` for a request that can't be metered or would run another model.
 */
function planResponses(body: ParsedRequest): RequestPlan {
  const { value, model } = body;
  checkResponse(value);
  checkContent(value.input, 'input');
  const parts = new PartCounts(body.elidedStrings);
  const cacheLife = new CacheLife();
  cacheLife.read(value);
  const tools = new ToolTally(TOOLS, cacheLife);
  tools.add(value.tools, 'tools');
  for (const part of contentParts(value.instructions)) cacheLife.read(part);
  for (const part of contentParts(value.input)) {
    parts.add(part);
    cacheLife.read(part);
    // Items that add tools: `additional_tools`, `tool_search_output`. A list of MCP tools is only text.
    if (part.tools !== undefined && part.type !== 'mcp_list_tools') tools.add(part.tools, 'input');
  }
  const tier = requestedTier(body);
  const charges: Surcharge[] = [...tools.charges, ...tier.charges];
  if (cacheLife.charge) charges.push(cacheLife.charge);
  const mode = isObject(value.reasoning) ? (value.reasoning.mode ?? 'standard') : 'standard';
  if (mode !== 'standard') charges.push({ param: 'reasoning', what: `the reasoning mode ${shown(mode)}` });
  const calls = countOf(body, 'max_tool_calls');
  const turns = Array.isArray(value.input) ? value.input.length : 1;
  const plan: TokenPlan = {
    ...TEXT_ONLY,
    textBytes: body.textBytes - parts.base64,
    overhead: REQUEST_OVERHEAD + turns * TURN_OVERHEAD + tools.count * TOOL_OVERHEAD,
    media: parts.media,
    maxTokens: maximumOf(body, 'max_output_tokens'),
    maxField: 'max_output_tokens',
    tools: toolsOf(tools, calls),
    searchedAs: tools.searches === 'preview' ? 'webSearchPreviews' : 'webSearches',
    roundsAdvice: `leave ${tools.provided.join(' and ')} out, or send a lower max_tool_calls`,
    compactsAt: compactsAt(value.context_management),
    inputUnits: inputUnits(parts, cacheLife.charge !== undefined),
    multiplier: tier.multiplier,
  };
  return {
    charges,
    serviceTiers: tier.serviceTiers,
    sets: tools.isProvided && calls === undefined ? MAX_TOOL_CALLS : NONE,
    sounds: parts.sounds,
    hints: {
      asksLongCache: cacheLife.charge !== undefined,
      searchesAsPreview: tools.searches === 'preview',
      hasTargets: model.targets !== undefined,
    },
    cost: (bounds) => tokenCost(model, plan, bounds),
  };
}

const MAX_TOOL_CALLS: readonly FieldToSet[] = [{ name: 'max_tool_calls' }];

/** Bounds of the tokens that provider-run tools add to the input. One field bounds all their calls. */
function toolsOf(tools: ToolTally, calls: number | undefined): ProviderTools {
  if (!tools.isProvided) return NO_TOOLS;
  const rounds: Rounds = calls === undefined ? { named: 0, sent: 1 } : { named: calls, sent: 0 };
  return {
    rounds,
    growing: tools.isGrowing ? rounds : NO_ROUNDS,
    searches: tools.searches ? rounds : NO_ROUNDS,
    contentTokens: 0,
    isOpen: tools.isOpen,
  };
}

/** Refuses a previous id that isn't a string, since its owner can't be checked. */
function checkResponse(value: ParsedRequest['value']): void {
  const previous = value.previous_response_id ?? null;
  if (previous !== null && typeof previous !== 'string')
    throw invalidField('previous_response_id', 'previous_response_id must be a string or null.');
}

/** Input tokens that trigger a summary of the conversation, from entries of type `compaction`. */
function compactsAt(management: unknown): number | undefined {
  const field = 'context_management';
  const thresholds = listOf(management, field)
    .filter(isObject)
    .map(({ compact_threshold: at }) => wholeNumberOf(at, field, 'compact_threshold') ?? COMPACTS_AT);
  return thresholds.length === 0 ? undefined : Math.min(...thresholds);
}
