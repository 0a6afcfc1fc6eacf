import { invalidField } from '../../domain/errors.ts';
import { TIMES_ONE } from '../../domain/price.ts';
import { type ContentPart, contentParts } from '../content-parts.ts';
import { isObject } from '../json-value.ts';
import { PartCounts } from '../media.ts';
import { type MeteredBody, maximumOf } from '../metered-body.ts';
import type { Asked, Charge } from './asked.ts';
import { CacheLife } from './cache-life.ts';
import { isAsked } from './charges.ts';
import { highestMultiplier, serviceTierOf, type TierChoice, tierCharge } from './service-tiers.ts';
import {
  COMPACTS_AT,
  inputUnits,
  REQUEST_OVERHEAD,
  TOOL_OVERHEAD,
  type TokenAsk,
  TURN_OVERHEAD,
  tokenCost,
} from './token-cost.ts';
import { messagesToolBounds, messagesToolKind } from './tool-kinds.ts';
import { ToolTally } from './tool-tally.ts';
import { checkContent, listOf, wholeNumberOf } from './well-typed.ts';

/** Tokens that Anthropic adds to a prompt with tools: it documents up to 804, and up to 735 for each tool of its own. */
const TOOL_PROMPT = 1_024;
/** Names of service tiers; every other name among a model's multipliers is that of a region. */
const TIERS: ReadonlySet<string> = new Set(['standard', 'priority', 'batch', 'flex', 'scale', 'fast']);

/** What a message call asks for. Throws 400 `invalid_field` for what cannot be metered or would have another model run. */
export function askMessages(body: MeteredBody): Asked {
  const { value, model } = body;
  checkMessage(value);
  const said = new MessageParts(body);
  said.read();
  const { tools } = said;
  const servers = listOf(value.mcp_servers, 'mcp_servers').length;
  const tiers = tiersOf(value);
  const turns = listOf(value.messages, 'messages').length;
  const toolPrompts = tools.count === 0 ? 0 : 1 + tools.typed;
  const ask: TokenAsk = {
    textBytes: body.textBytes - said.base64,
    overhead:
      REQUEST_OVERHEAD + turns * TURN_OVERHEAD + tools.count * TOOL_OVERHEAD + toolPrompts * TOOL_PROMPT,
    media: said.media,
    prompts: 1,
    maxTokens: maximumOf(body, 'max_tokens'),
    maxField: 'max_tokens',
    answers: 1,
    // Thinking is inside max_tokens, unless its budget is larger.
    thinking: budgetOf(value.thinking),
    echoed: 0,
    predicted: 0,
    tools: tools.rounds(servers > 0),
    tellsPasses: true,
    roundsAdvice: `leave ${tools.isProvided ? tools.provided.join(' and ') : 'mcp_servers'} out, or send a lower max_uses`,
    compactsAt: compactsAt(value),
    inputUnits: inputUnits(said, said.cacheLife.charge !== undefined),
    outputUnits: undefined,
    multiplier: multiplierOf(body, tiers),
  };
  const asked = tiers.filter((tier): tier is [TierField, string] => typeof tier[1] === 'string');
  return {
    charges: [...chargesOf(value, said), ...asked.map(([param, tier]) => tierCharge(param, tier))],
    serviceTiers: asked.map(([, tier]) => tier),
    sets: tools.sets,
    sounds: said.sounds,
    said: { asksLongCache: said.cacheLife.charge !== undefined, searchesAsPreview: false },
    cost: (bounds) => tokenCost(model, ask, bounds),
  };
}

/** Refuses a conversation that the provider holds, which no account here owns, and another payer than the operator. */
function checkMessage(value: MeteredBody['value']): void {
  for (const name of ['thread', 'billing_policy']) {
    if (isAsked(value[name]))
      throw invalidField(
        name,
        `${name} is not supported, because the response does not report its cost. Leave it out.`,
      );
  }
}

function chargesOf(value: MeteredBody['value'], said: MessageParts): Charge[] {
  const { charges } = said.tools;
  // Files and skills for code that the provider runs.
  if (isAsked(value.container)) charges.push({ param: 'container', what: 'code containers' });
  const { charge } = said.cacheLife;
  if (charge) charges.push(charge);
  return charges;
}

function budgetOf(thinking: unknown): number {
  const budget = isObject(thinking) ? thinking.budget_tokens : undefined;
  return wholeNumberOf(budget, 'thinking', 'budget_tokens') ?? 0;
}

type TierField = 'service_tier' | 'speed' | 'inference_geo';

/** What the request says of the three things that Anthropic's prices are multiplied by. */
function tiersOf(value: MeteredBody['value']): [TierField, TierChoice][] {
  const { speed, inference_geo: region } = value;
  return [
    ['service_tier', serviceTierOf(value.service_tier)],
    ['speed', serviceTierOf(speed)],
    ['inference_geo', region === 'global' ? null : serviceTierOf(region)],
  ];
}

function multiplierOf({ model: { price } }: MeteredBody, tiers: readonly [TierField, TierChoice][]): number {
  let multiplier = TIMES_ONE;
  for (const [field, choice] of tiers) {
    const times = highestMultiplier(price, choice, AMONG[field]);
    if (times !== TIMES_ONE) multiplier = Math.ceil((multiplier * times) / TIMES_ONE);
  }
  return multiplier;
}

/** The multipliers of a model that a field can reach. */
const AMONG: Readonly<Record<TierField, (tier: string) => boolean>> = {
  service_tier: (tier) => TIERS.has(tier) && tier !== 'fast',
  speed: (tier) => tier === 'fast',
  inference_geo: (tier) => !TIERS.has(tier),
};

/** The system prompt, the messages and the tools, wherever they stand, read once. */
class MessageParts extends PartCounts {
  readonly #value: MeteredBody['value'];
  readonly cacheLife = new CacheLife();
  readonly tools = new ToolTally(messagesToolKind, this.cacheLife, 'name', messagesToolBounds);

  constructor({ value, elidedStrings }: MeteredBody) {
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

  /** Tools that a message adds, and those that a summary of former messages names again. */
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

/** Input tokens from which on the conversation is summarised: by a `compact_…` edit, or at once by `compaction`. */
function compactsAt(value: MeteredBody['value']): number | undefined {
  if (isAsked(value.compaction)) return 0;
  const { context_management: management } = value;
  const edits = listOf(isObject(management) ? management.edits : undefined, 'context_management');
  const triggers = edits
    .filter(isObject)
    .filter(({ type }) => String(type).startsWith('compact'))
    .map(({ trigger }) => tokensOf(trigger));
  return triggers.length === 0 ? undefined : Math.min(...triggers);
}

function tokensOf(trigger: unknown): number {
  if (!isAsked(trigger)) return COMPACTS_AT;
  const value = isObject(trigger) ? trigger.value : undefined;
  return wholeNumberOf(value, 'context_management', 'The value of a trigger') ?? 0;
}
