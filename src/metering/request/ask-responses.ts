import { invalidField } from '../../domain/errors.ts';
import { contentParts } from '../content-parts.ts';
import { isObject } from '../json-value.ts';
import { PartCounts } from '../media.ts';
import { countOf, type MeteredBody, maximumOf } from '../metered-body.ts';
import { type Asked, type Charge, NONE } from './asked.ts';
import { CacheLife } from './cache-life.ts';
import { shown } from './charges.ts';
import type { FieldToSet } from './fields-to-set.ts';
import { highestMultiplier, serviceTierOf, tierCharge } from './service-tiers.ts';
import {
  COMPACTS_AT,
  inputUnits,
  REQUEST_OVERHEAD,
  TOOL_OVERHEAD,
  type TokenAsk,
  TURN_OVERHEAD,
  tokenCost,
} from './token-cost.ts';
import { responsesToolKind } from './tool-kinds.ts';
import { NO_ROUNDS, NO_TOOLS, type ProviderTools, type Rounds } from './tool-rounds.ts';
import { ToolTally } from './tool-tally.ts';
import { checkContent, listOf, wholeNumberOf } from './well-typed.ts';

/** What a response call asks for. Throws 400 `invalid_field` for what cannot be metered or would have another model run. */
export function askResponses(body: MeteredBody): Asked {
  const { value, model } = body;
  checkResponse(value);
  checkContent(value.input, 'input');
  const said = new PartCounts(body.elidedStrings);
  const cacheLife = new CacheLife();
  cacheLife.read(value);
  const tools = new ToolTally(responsesToolKind, cacheLife, 'function');
  tools.add(value.tools, 'tools');
  for (const part of contentParts(value.instructions)) cacheLife.read(part);
  for (const part of contentParts(value.input)) {
    said.add(part);
    cacheLife.read(part);
    // Items that bring tools: `additional_tools`, `tool_search_output`. What a list of MCP tools has is text.
    if (part.tools !== undefined && part.type !== 'mcp_list_tools') tools.add(part.tools, 'input');
  }
  const charges: Charge[] = tools.charges;
  if (cacheLife.charge) charges.push(cacheLife.charge);
  const tier = serviceTierOf(value.service_tier);
  if (typeof tier === 'string') charges.push(tierCharge('service_tier', tier));
  const mode = isObject(value.reasoning) ? (value.reasoning.mode ?? 'standard') : 'standard';
  if (mode !== 'standard') charges.push({ param: 'reasoning', what: `the reasoning mode ${shown(mode)}` });
  const calls = countOf(body, 'max_tool_calls');
  const turns = Array.isArray(value.input) ? value.input.length : 1;
  const ask: TokenAsk = {
    textBytes: body.textBytes - said.base64,
    overhead: REQUEST_OVERHEAD + turns * TURN_OVERHEAD + tools.count * TOOL_OVERHEAD,
    media: said.media,
    prompts: 1,
    maxTokens: maximumOf(body, 'max_output_tokens'),
    maxField: 'max_output_tokens',
    answers: 1,
    thinking: 0,
    echoed: 0,
    predicted: 0,
    tools: toolsOf(tools, calls),
    searchedAs: tools.searches === 'preview' ? 'webSearchPreviews' : 'webSearches',
    tellsPasses: false,
    roundsAdvice: `leave ${tools.provided.join(' and ')} out, or send a lower max_tool_calls`,
    compactsAt: compactsAt(value.context_management),
    inputUnits: inputUnits(said, cacheLife.charge !== undefined),
    outputUnits: undefined,
    multiplier: highestMultiplier(model.price, tier),
  };
  return {
    charges,
    serviceTiers: typeof tier === 'string' ? [tier] : NONE,
    sets: tools.isProvided && calls === undefined ? MAX_TOOL_CALLS : NONE,
    sounds: said.sounds,
    said: {
      asksLongCache: cacheLife.charge !== undefined,
      searchesAsPreview: tools.searches === 'preview',
    },
    cost: (bounds) => tokenCost(model, ask, bounds),
  };
}

const MAX_TOOL_CALLS: readonly FieldToSet[] = [{ name: 'max_tool_calls' }];

/** What the provider's tools can make the model read: one field bounds the calls of all of them. */
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

/**
 * Refuses a response in the background, which ends after its call and would not be charged, and a previous id that is no
 * string, whose owner could not be checked.
 */
function checkResponse(value: MeteredBody['value']): void {
  const previous = value.previous_response_id ?? null;
  if (previous !== null && typeof previous !== 'string')
    throw invalidField('previous_response_id', 'previous_response_id must be a string or null.');
  if ((value.background ?? false) !== false) {
    throw invalidField(
      'background',
      'background is not supported, because the response would not report usage. Leave it out.',
    );
  }
}

/** Input tokens from which on an entry of the type `compaction` has the conversation summarised. */
function compactsAt(management: unknown): number | undefined {
  const field = 'context_management';
  const thresholds = listOf(management, field)
    .filter(isObject)
    .map(({ compact_threshold: at }) => wholeNumberOf(at, field, 'compact_threshold') ?? COMPACTS_AT);
  return thresholds.length === 0 ? undefined : Math.min(...thresholds);
}
