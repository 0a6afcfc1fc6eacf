import type { Unit } from '../../domain/units.ts';
import type { ContentPart } from '../content-parts.ts';
import type { ElidedStrings } from '../elided-strings.ts';
import { isObject } from '../json-value.ts';
import { PartCounts } from '../media.ts';
import { countOf, type MeteredBody, maximumOf } from '../metered-body.ts';
import { type Asked, type Charge, NONE } from './asked.ts';
import { CacheLife } from './cache-life.ts';
import { isAsked, refuseModels, SEARCHES, shown } from './charges.ts';
import { CHAT_TOOL } from './members/chat.ts';
import { refusedIn } from './members/members.ts';
import { highestMultiplier, serviceTierOf, tierCharge } from './service-tiers.ts';
import {
  inputUnits,
  REQUEST_OVERHEAD,
  TOOL_OVERHEAD,
  type TokenAsk,
  TURN_OVERHEAD,
  tokenCost,
} from './token-cost.ts';
import { NO_TOOLS, type ProviderTools, type Rounds } from './tool-rounds.ts';
import { checkContent, listOf, toolOf } from './well-typed.ts';

const TOOL_MODELS = refusedIn(CHAT_TOOL, 'other model');
/** Types of tools that the client runs; a tool without a type is a function too. */
const CLIENT_TOOLS: ReadonlySet<unknown> = new Set([undefined, 'function', 'custom']);
/** Providers that document `max_tokens` alone, so that another maximum may bound nothing. */
const ONLY_MAX_TOKENS: ReadonlySet<string | undefined> = new Set(['deepseek']);
const ONE_ROUND: Rounds = { named: 1, sent: 0 };
const ONE_SEARCH: ProviderTools = {
  ...NO_TOOLS,
  rounds: ONE_ROUND,
  growing: ONE_ROUND,
  searches: ONE_ROUND,
};
const SOUND_OUT: readonly Unit[] = ['outputAudio'];

/** What a chat call asks for. Throws 400 `invalid_field` for a tool with a model of its own. */
export function askChat(body: MeteredBody): Asked {
  const { value, model } = body;
  const said = new ChatParts(body.elidedStrings);
  said.read(value.messages);
  const tools = listOf(value.tools, 'tools').map((tool) => toolOf(tool, 'tools', 'function'));
  const charges = chargesOf(value, tools, said);
  const tier = serviceTierOf(value.service_tier);
  if (typeof tier === 'string') charges.push(tierCharge('service_tier', tier));
  // Counted as one, as the answer does not tell how many (specification section 10).
  const searches = isAsked(value.web_search_options) ? 1 : 0;
  const knowsBoth = !ONLY_MAX_TOKENS.has(model.upstream.provider);
  const completion = knowsBoth ? maximumOf(body, 'max_completion_tokens') : undefined;
  const named = Math.max(maximumOf(body, 'max_tokens') ?? 0, completion ?? 0);
  const definitions = tools.length + listOf(value.functions, 'functions').length;
  const ask: TokenAsk = {
    textBytes: body.textBytes - said.base64,
    overhead: REQUEST_OVERHEAD + said.turns * TURN_OVERHEAD + definitions * TOOL_OVERHEAD,
    media: said.media,
    prompts: 1,
    maxTokens: named || undefined,
    maxField: isAsked(value.max_tokens) || !knowsBoth ? 'max_tokens' : 'max_completion_tokens',
    answers: Math.max(1, countOf(body, 'n') ?? 1),
    thinking: 0,
    echoed: 0,
    predicted: predictedBytes(value.prediction, body.elidedStrings),
    tools: searches > 0 ? ONE_SEARCH : NO_TOOLS,
    tellsPasses: false,
    roundsAdvice: 'leave web_search_options out',
    compactsAt: undefined,
    inputUnits: inputUnits(said, said.cacheLife.charge !== undefined),
    outputUnits: charges.some(({ unit }) => unit === 'outputAudio') ? SOUND_OUT : undefined,
    multiplier: highestMultiplier(model.price, tier),
  };
  return {
    charges,
    serviceTiers: typeof tier === 'string' ? [tier] : NONE,
    sounds: said.sounds,
    said: { asksLongCache: said.cacheLife.charge !== undefined, searchesAsPreview: false },
    cost: (bounds) => tokenCost(model, ask, bounds),
  };
}

type Tool = Readonly<Record<string, unknown>>;

function chargesOf(value: MeteredBody['value'], tools: readonly Tool[], said: ChatParts): Charge[] {
  const charges: Charge[] = [];
  for (const tool of tools) {
    refuseModels(tool, TOOL_MODELS, 'tools');
    if (!CLIENT_TOOLS.has(tool.type ?? undefined))
      charges.push({ param: 'tools', what: `tools of type ${shown(tool.type)}` });
    said.cacheLife.read(tool);
  }
  if (isAsked(value.web_search_options)) charges.push({ param: 'web_search_options', ...SEARCHES.search });
  const isSpoken = listOf(value.modalities, 'modalities').includes('audio');
  if (isSpoken || isAsked(value.audio))
    charges.push({ param: isSpoken ? 'modalities' : 'audio', what: 'audio output', unit: 'outputAudio' });
  said.cacheLife.read(value);
  const { charge } = said.cacheLife;
  if (charge) charges.push(charge);
  return charges;
}

/** The messages of a chat, whose parts hold no further parts. */
class ChatParts extends PartCounts {
  turns = 0;
  readonly cacheLife = new CacheLife();

  read(messages: unknown): void {
    const turns = listOf(messages, 'messages');
    this.turns = turns.length;
    for (const message of turns) {
      if (!isObject(message)) continue;
      // A spoken answer of before is named by its id.
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

/** UTF-8 bytes of a predicted answer: a text, or parts with texts. */
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
