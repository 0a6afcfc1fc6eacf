import type { Unit } from '../../domain/price-units.ts';
import { type ContentPart, PartCounts } from '../content-parts.ts';
import { isObject } from '../json-value.ts';
import { countOf, type MeteredBody } from '../metered-body.ts';
import { type Asked, type Charge, NONE } from './asked.ts';
import { asksHourCache, HOUR_CACHE, isAsked, refuseModels, shown, WEB_SEARCH } from './charges.ts';
import { highestMultiplier, serviceTierOf, tierCharge } from './service-tiers.ts';
import {
  inputUnits,
  REQUEST_OVERHEAD,
  TOOL_OVERHEAD,
  type TokenAsk,
  TURN_OVERHEAD,
  tokenCost,
} from './token-cost.ts';

/** Members by which OpenAI, OpenRouter and LiteLLM have another model run than the one named in `model`. */
const MODELS = ['models', 'fallbacks', 'fallback_models', 'moderation'] as const;
const TOOL_MODEL = ['model'] as const;
/** Members by which providers of this format search the web or run tools, for fees that no unit charges. */
const FEES = ['plugins', 'search_parameters', 'enable_search', 'compound_custom'] as const;
/** Types of tools that the client runs; a tool without a type is a function too. */
const CLIENT_TOOLS: ReadonlySet<unknown> = new Set([undefined, 'function', 'custom']);
const SOUND_OUT: readonly Unit[] = ['outputAudio'];

/** What a chat call asks for. Throws 400 `invalid_field` where another model would run. */
export function askChat(body: MeteredBody): Asked {
  const { value, model } = body;
  refuseModels(value, MODELS);
  const said = new ChatParts(body.elidedStrings);
  said.read(value.messages);
  const tools = listOf(value.tools);
  const charges = chargesOf(value, tools, said);
  const tier = serviceTierOf(value.service_tier);
  if (typeof tier === 'string') charges.push(tierCharge('service_tier', tier));
  // Counted as one, as the answer does not tell how many (specification section 10).
  const searches = isAsked(value.web_search_options) ? 1 : 0;
  const named = Math.max(countOf(body, 'max_tokens') ?? -1, countOf(body, 'max_completion_tokens') ?? -1);
  const definitions = tools.length + listOf(value.functions).length;
  const ask: TokenAsk = {
    textBytes: body.textBytes - said.base64,
    overhead: REQUEST_OVERHEAD + said.turns * TURN_OVERHEAD + definitions * TOOL_OVERHEAD,
    media: said.media,
    maxTokens: named >= 0 ? named : undefined,
    maxField: isAsked(value.max_tokens) ? 'max_tokens' : 'max_completion_tokens',
    answers: Math.max(1, countOf(body, 'n') ?? 1),
    thinking: 0,
    echoed: 0,
    rounds: searches,
    searches,
    roundsAdvice: 'leave web_search_options out',
    compactsAt: undefined,
    inputUnits: inputUnits(said, said.asksHourCache),
    outputUnits: charges.some(({ unit }) => unit === 'outputAudio') ? SOUND_OUT : undefined,
    multiplier: highestMultiplier(model.price, tier),
  };
  return {
    charges,
    serviceTiers: typeof tier === 'string' ? [tier] : NONE,
    cost: (bounds) => tokenCost(model, ask, bounds),
  };
}

function chargesOf(value: MeteredBody['value'], tools: readonly unknown[], said: ChatParts): Charge[] {
  const charges: Charge[] = [];
  for (const name of FEES) if ((value[name] ?? false) !== false) charges.push({ param: name, what: name });
  for (const tool of tools) {
    if (!isObject(tool)) continue;
    refuseModels(tool, TOOL_MODEL, 'tools');
    if (!CLIENT_TOOLS.has(tool.type))
      charges.push({ param: 'tools', what: `tools of the type ${shown(tool.type)}` });
    said.cached(tool.cache_control);
  }
  if (isAsked(value.web_search_options)) charges.push({ param: 'web_search_options', ...WEB_SEARCH });
  const { modalities } = value;
  const isSpoken = Array.isArray(modalities) && modalities.includes('audio');
  if (isSpoken || isAsked(value.audio))
    charges.push({ param: isSpoken ? 'modalities' : 'audio', what: 'answers as sound', unit: 'outputAudio' });
  said.cached(value.cache_control);
  if (said.asksHourCache) charges.push(HOUR_CACHE);
  return charges;
}

/** The messages of a chat, whose parts hold no further parts. */
class ChatParts extends PartCounts {
  turns = 0;
  asksHourCache = false;

  read(messages: unknown): void {
    if (!Array.isArray(messages)) return;
    this.turns = messages.length;
    for (const message of messages) {
      if (!isObject(message)) continue;
      // A spoken answer of before is named by its id.
      if (message.audio) this.hasSound = true;
      this.cached(message.cache_control);
      const { content } = message;
      if (Array.isArray(content)) for (const part of content) if (isObject(part)) this.#part(part);
    }
  }

  cached(control: unknown): void {
    if (control !== undefined && asksHourCache(control)) this.asksHourCache = true;
  }

  #part(part: ContentPart): void {
    this.add(part);
    this.cached(part.cache_control);
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : NONE;
}
