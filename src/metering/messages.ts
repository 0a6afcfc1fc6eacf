import type { Terms } from '../domain/bill.ts';
import { TIMES_ONE } from '../domain/price.ts';
import { type ContentPart, contentParts, readable } from './content-parts.ts';
import { asText, isObject } from './json/value.ts';
import { PartCounts } from './media.ts';
import { CACHE_CONTROL, CACHE_WRITE, EVERYWHERE, membersOf } from './members.ts';
import { beyondTotals, hasOtherModels, passTerms, withPasses } from './messages-passes.ts';
import { MessagesStream, messagesResourceIds } from './messages-stream.ts';
import {
  type InputTokens,
  type Meter,
  maximumOf,
  type ParsedRequest,
  type RequestFacts,
  textTokens,
} from './meter.ts';
import { outputTokensIn } from './output-text.ts';
import { checkContent, isSet, listOf, type RequestPlan, type Surcharge, wholeNumberOf } from './plan.ts';
import {
  CacheLife,
  highestMultiplier,
  messagesTiers,
  serviceTierOf,
  type TierChoice,
  tierCharge,
  tierNames,
} from './terms.ts';
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
import { messagesToolBounds, messagesToolKind, type ToolFormat, ToolTally } from './tools.ts';
import { addUsage, readingOf, withSearches } from './usage.ts';
import { type Reading, reportIn, usageOf, withReported } from './usage-report.ts';

/** Tools of the Messages API; tools.ts has their types. */
const MESSAGES_TOOL = membersOf({
  held: `type name description input_schema.* input_examples.* strict defer_loading eager_input_streaming allowed_callers
    cache_control configs.* default_config.* mcp_server_name tools.* display_width_px display_height_px display_number
    enable_zoom max_characters max_uses max_content_tokens citations.* url_sources.* use_cache response_inclusion`,
  priced: 'user_location.* allowed_domains blocked_domains',
  otherModels: 'model svg.*',
  // For the advisor, which is another model.
  refused: 'caching.* max_tokens',
  within: { cache_control: CACHE_CONTROL },
});

const TOOLS: ToolFormat = {
  members: MESSAGES_TOOL,
  kindOf: messagesToolKind,
  identity: 'name',
  boundsOf: messagesToolBounds,
};

/** Adds or removes a tool in a message. */
const TOOL_CHANGE = membersOf({
  held: 'type tool cache_control',
  within: {
    tool: membersOf({ held: 'type name server_name definition', within: { definition: MESSAGES_TOOL } }),
    cache_control: CACHE_CONTROL,
  },
});

/** Messages and their blocks, including the members of results and sources. */
const BLOCK = membersOf({
  held: `role type content text citations.* title context id name input.* tool_use_id is_error caller.* toolset_name
    mcp_server_name server_name thinking signature data encrypted_content cache_control tool tool_changes tools.* tool_name
    tool_references.* tabs.* state_changes.* clear_at output_config url retrieved_at page_age error_code error_message
    return_code stdout stderr encrypted_stdout file_type lines new_lines new_start old_lines old_start num_lines start_line
    total_lines is_file_update stop_reason trigger from.* to.*`,
  priced: 'source file_id media_type transformations.*',
  within: {
    content: 'self',
    source: 'self',
    tool_changes: TOOL_CHANGE,
    tool: membersOf({ held: 'type name server_name definition', within: { definition: MESSAGES_TOOL } }),
    output_config: membersOf({ held: 'effort' }),
    cache_control: CACHE_CONTROL,
  },
});

const TRIGGER = membersOf({ held: 'type value' });

/** Messages: `MessageCreateParams` of @anthropic-ai/sdk's beta/messages. */
export const MESSAGES = membersOf({
  always: EVERYWHERE.always,
  read: 'model stream',
  priced: 'service_tier speed inference_geo cache_control',
  held: `system messages tools max_tokens thinking output_config output_format mcp_servers context_management
    compaction`,
  otherModels: `${EVERYWHERE.otherModels} moderation.*`,
  fees: 'provider plugins preset',
  // A conversation stored by the provider, which no account here owns, and a payer other than the operator.
  unreported: 'thread.* billing_policy.*',
  refused: 'container.*',
  free: 'metadata.* stop_sequences temperature top_k top_p tool_choice.* diagnostics fallback_credit_token',
  within: {
    system: BLOCK,
    messages: BLOCK,
    tools: MESSAGES_TOOL,
    cache_control: CACHE_CONTROL,
    thinking: membersOf({
      held: 'type budget_tokens display block_binding.*',
      texts: { budget_tokens: 'counts if it is larger than the maximum' },
    }),
    output_config: membersOf({ held: 'effort format.* task_budget.*' }),
    output_format: membersOf({ held: 'type schema.*' }),
    diagnostics: membersOf({ free: 'previous_message_id' }),
    fallback_credit_token: membersOf({ free: 'token mode' }),
    mcp_servers: membersOf({ held: 'type name url authorization_token tool_configuration.*' }),
    compaction: membersOf({ held: 'type instructions' }),
    context_management: membersOf({
      held: 'edits',
      within: {
        edits: membersOf({
          held: 'type keep trigger instructions pause_after_compaction',
          free: 'clear_at_least.* clear_tool_inputs exclude_tools',
          within: { keep: TRIGGER, trigger: TRIGGER },
        }),
      },
    }),
  },
  texts: {
    'system messages tools output_config output_format':
      'a token for each byte, a few for each message, and the prompts that Anthropic adds for tools',
    'max_tokens thinking': "the maximum, else the model's `maxOutputTokens`; 0 names none",
    'service_tier speed inference_geo':
      '`serviceTiers`: the tier, `fast` and the region multiply each other, unless `auto`, `standard_only`, `standard`, ' +
      '`global` or null; none holds the highest',
    cache_control: CACHE_WRITE,
    context_management:
      'one more context and answer for `compact_…` edits, if the input can reach the trigger (default 150,000 tokens); ' +
      'nothing for `clear_…` edits',
    compaction: 'one more context and answer',
    mcp_servers: 'ten rounds, each pass a whole context, no fee',
    container: 'container hours',
    thread:
      "the provider would keep the conversation. The `details` of the error tell Anthropic's tool runners to go on without it",
    billing_policy: 'another payer',
  },
});

const TURN_TOKENS = 4;

/** `/v1/messages`. */
export const messages: Meter = {
  plan: planMessages,
  usage(answer, body) {
    const report = reportIn(answer);
    const usage =
      report && withPasses(usageOf(report.counts, messageReading(answer, body)), report.raw.iterations);
    return usage && withSearches(usage, report.counts.webSearches);
  },
  terms: messageTerms,
  isEstimated: (answer) => hasOtherModels(reportIn(answer)?.raw.iterations),
  mergeReported(estimate, answer, body) {
    const report = reportIn(answer);
    if (!report) return estimate;
    const usage = withReported(estimate, usageOf(report.counts, messageReading(answer, body)));
    return withSearches(addUsage(usage, beyondTotals(report.raw.iterations)), report.counts.webSearches);
  },
  outputTokens: messageOutputTokens,
  resourceIds: messagesResourceIds,
  stream: (_injectedUsage, body) => new MessagesStream(body),
  inputTokens: messageTokens,
  estimate: (tokens) => tokens,
};

function messageReading(answer: unknown, body: RequestFacts): Reading {
  return { ...readingOf(body, () => messageOutputTokens(answer) > 0), isMessage: true };
}

/** Tiers and passes of a whole message, and whether it is an unbilled refusal. */
function messageTerms(answer: unknown, body: RequestFacts): Terms {
  const usage = reportIn(answer)?.raw;
  const isRefused = isObject(answer) && answer.stop_reason === 'refusal';
  return {
    serviceTiers: tierNames(messagesTiers(usage), body),
    ...passTerms(usage?.iterations, body),
    ...(isRefused && Array.isArray(answer.content) && answer.content.length === 0
      ? { isUnbilled: true }
      : {}),
  };
}

function messageTokens(body: ParsedRequest): InputTokens {
  const { messages, system, tools } = body.value;
  const content = readable(contentParts(messages));
  const ruled = typeof system === 'string' ? system : readable(contentParts(system)).text;
  const text = textTokens(body, [ruled, content.text, asText(tools)].join(' '));
  const turns = Array.isArray(messages) ? messages.length : 0;
  return { text: text + turns * TURN_TOKENS, media: content.mediaTokens };
}

/** Counts text, thinking, names and arguments of tool calls; not tool results. */
function messageOutputTokens(message: unknown): number {
  const content = isObject(message) && Array.isArray(message.content) ? message.content : [];
  return outputTokensIn(
    content.filter((block) => isObject(block) && !/_tool_result$/.test(asText(block.type))),
  );
}

/** Tokens that Anthropic adds to a prompt with tools: up to 804 documented, and up to 735 for each of its tools. */
const TOOL_PROMPT = 1_024;
/** Service tiers. Any other name among a model's multipliers is a region. */
const TIERS: ReadonlySet<string> = new Set(['standard', 'priority', 'batch', 'flex', 'scale', 'fast']);

/** Plans a messages call. Throws 400 `invalid_field` for a request that can't be metered or would run another model. */
function planMessages(body: ParsedRequest): RequestPlan {
  const { value, model } = body;
  const parts = new MessageParts(body);
  parts.read();
  const { tools } = parts;
  const servers = listOf(value.mcp_servers, 'mcp_servers').length;
  const tiers = tiersOf(value);
  const turns = listOf(value.messages, 'messages').length;
  const toolPrompts = tools.count === 0 ? 0 : 1 + tools.typed;
  const plan: TokenPlan = {
    ...TEXT_ONLY,
    textBytes: body.textBytes - parts.base64,
    overhead:
      REQUEST_OVERHEAD + turns * TURN_OVERHEAD + tools.count * TOOL_OVERHEAD + toolPrompts * TOOL_PROMPT,
    media: parts.media,
    maxTokens: maximumOf(body, 'max_tokens'),
    maxField: 'max_tokens',
    // `max_tokens` includes thinking, unless the thinking budget is larger.
    thinking: budgetOf(value.thinking),
    tools: tools.rounds(servers > 0),
    reportsPasses: true,
    roundsAdvice: `leave ${tools.isProvided ? tools.provided.join(' and ') : 'mcp_servers'} out, or send a lower max_uses`,
    compactsAt: compactsAt(value),
    inputUnits: inputUnits(parts, parts.cacheLife.charge !== undefined),
    multiplier: multiplierOf(body, tiers),
  };
  const named = tiers.filter((tier): tier is [TierField, string] => typeof tier[1] === 'string');
  return {
    charges: [...chargesOf(value, parts), ...named.map(([param, tier]) => tierCharge(param, tier))],
    serviceTiers: named.map(([, tier]) => tier),
    sets: tools.sets,
    sounds: parts.sounds,
    hints: { asksLongCache: parts.cacheLife.charge !== undefined, searchesAsPreview: false },
    cost: (bounds) => tokenCost(model, plan, bounds),
  };
}

function chargesOf(value: ParsedRequest['value'], parts: MessageParts): Surcharge[] {
  const { charges } = parts.tools;
  // Files and skills for provider-run code.
  if (isSet(value.container)) charges.push({ param: 'container', what: 'code containers' });
  const { charge } = parts.cacheLife;
  if (charge) charges.push(charge);
  return charges;
}

function budgetOf(thinking: unknown): number {
  const budget = isObject(thinking) ? thinking.budget_tokens : undefined;
  return wholeNumberOf(budget, 'thinking', 'budget_tokens') ?? 0;
}

type TierField = 'service_tier' | 'speed' | 'inference_geo';

/** The three request fields that multiply Anthropic's prices. */
function tiersOf(value: ParsedRequest['value']): [TierField, TierChoice][] {
  const { speed, inference_geo: region } = value;
  return [
    ['service_tier', serviceTierOf(value.service_tier)],
    ['speed', serviceTierOf(speed)],
    ['inference_geo', region === 'global' ? null : serviceTierOf(region)],
  ];
}

function multiplierOf(
  { model: { price } }: ParsedRequest,
  tiers: readonly [TierField, TierChoice][],
): number {
  let multiplier = TIMES_ONE;
  for (const [field, choice] of tiers) {
    const times = highestMultiplier(price, choice, AMONG[field]);
    if (times !== TIMES_ONE) multiplier = Math.ceil((multiplier * times) / TIMES_ONE);
  }
  return multiplier;
}

/** Multipliers that each field can select. */
const AMONG: Readonly<Record<TierField, (tier: string) => boolean>> = {
  service_tier: (tier) => TIERS.has(tier) && tier !== 'fast',
  speed: (tier) => tier === 'fast',
  inference_geo: (tier) => !TIERS.has(tier),
};

/** Reads the system prompt, messages and tools once. */
class MessageParts extends PartCounts {
  readonly #value: ParsedRequest['value'];
  readonly cacheLife = new CacheLife();
  readonly tools = new ToolTally(TOOLS, this.cacheLife);

  constructor({ value, elidedStrings }: ParsedRequest) {
    super(elidedStrings);
    this.#value = value;
  }

  read(): void {
    const { system, messages, tools } = this.#value;
    this.tools.add(tools, 'tools');
    this.cacheLife.read(this.#value);
    checkContent(system, 'system');
    if (Array.isArray(system))
      for (const block of system) {
        if (!isObject(block)) continue;
        this.add(block);
        this.cacheLife.read(block);
      }
    for (const message of listOf(messages, 'messages'))
      if (isObject(message)) checkContent(message.content, 'messages');
    for (const part of contentParts(messages)) {
      this.add(part);
      this.cacheLife.read(part);
      this.#changes(part);
    }
  }

  /** Adds the tools of an addition, and those repeated in a summary of earlier messages. */
  #changes(part: ContentPart): void {
    if (part.type === 'tool_addition') this.#addition(part);
    for (const change of listOf(part.tool_changes, 'messages')) {
      if (!isObject(change)) continue;
      this.cacheLife.read(change);
      this.#addition(change);
    }
  }

  #addition({ tool }: ContentPart): void {
    if (!isObject(tool)) return;
    if (isObject(tool.definition)) this.tools.add([tool.definition], 'messages');
  }
}

/** Input tokens that trigger a summary of the conversation: set by a `compact_…` edit, or 0 with `compaction`. */
function compactsAt(value: ParsedRequest['value']): number | undefined {
  if (isSet(value.compaction)) return 0;
  const { context_management: management } = value;
  const edits = listOf(isObject(management) ? management.edits : undefined, 'context_management');
  const triggers = edits
    .filter(isObject)
    .filter(({ type }) => String(type).startsWith('compact'))
    .map(({ trigger }) => tokensOf(trigger));
  return triggers.length === 0 ? undefined : Math.min(...triggers);
}

function tokensOf(trigger: unknown): number {
  if (!isSet(trigger)) return COMPACTS_AT;
  const value = isObject(trigger) ? trigger.value : undefined;
  return wholeNumberOf(value, 'context_management', 'The value of a trigger') ?? 0;
}
