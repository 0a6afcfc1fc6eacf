import { invalidField } from '../../domain/errors.ts';
import { contentParts, PartCounts } from '../content-parts.ts';
import { isObject } from '../json-value.ts';
import { countOf, type MeteredBody } from '../metered-body.ts';
import { type Asked, type Charge, NONE } from './asked.ts';
import { refuseModels, shown } from './charges.ts';
import { highestMultiplier, serviceTierOf, tierCharge } from './service-tiers.ts';
import {
  COMPACTS_AT,
  inputUnits,
  REQUEST_OVERHEAD,
  TOOL_OVERHEAD,
  TOOL_ROUNDS,
  type TokenAsk,
  TURN_OVERHEAD,
  tokenCost,
} from './token-cost.ts';
import { responsesToolKind } from './tool-kinds.ts';
import { ToolTally } from './tool-tally.ts';

/** Members by which another model runs than the one named in `model`. */
const MODELS = ['models', 'fallbacks', 'fallback_models', 'moderation'] as const;

/** What a response call asks for. Throws 400 `invalid_field` for what cannot be metered or would have another model run. */
export function askResponses(body: MeteredBody): Asked {
  const { value, model } = body;
  checkResponse(value);
  refuseModels(value, MODELS);
  const said = new PartCounts(body.elidedStrings);
  const tools = new ToolTally(responsesToolKind);
  tools.add(value.tools, 'tools');
  for (const part of contentParts(value.input)) {
    said.add(part);
    // Items that bring tools: `additional_tools`, `tool_search_output`. What a list of MCP tools has is text.
    if (part.tools !== undefined && part.type !== 'mcp_list_tools') tools.add(part.tools, 'input');
  }
  const charges: Charge[] = tools.charges;
  const tier = serviceTierOf(value.service_tier);
  if (typeof tier === 'string') charges.push(tierCharge('service_tier', tier));
  const mode = isObject(value.reasoning) ? (value.reasoning.mode ?? 'standard') : 'standard';
  if (mode !== 'standard') charges.push({ param: 'reasoning', what: `the reasoning mode ${shown(mode)}` });
  const rounds = tools.isProvided ? (countOf(body, 'max_tool_calls') ?? TOOL_ROUNDS) : 0;
  const turns = Array.isArray(value.input) ? value.input.length : 1;
  const ask: TokenAsk = {
    textBytes: body.textBytes - said.base64,
    overhead: REQUEST_OVERHEAD + turns * TURN_OVERHEAD + tools.count * TOOL_OVERHEAD,
    media: said.media,
    maxTokens: countOf(body, 'max_output_tokens'),
    maxField: 'max_output_tokens',
    answers: 1,
    thinking: 0,
    echoed: 0,
    rounds,
    searches: tools.searches ? rounds : 0,
    roundsAdvice: `leave ${tools.provided.join(' and ')} out, or lower max_tool_calls`,
    compactsAt: compactsAt(value.context_management),
    inputUnits: inputUnits(said, false),
    outputUnits: undefined,
    multiplier: highestMultiplier(model.price, tier),
  };
  return {
    charges,
    serviceTiers: typeof tier === 'string' ? [tier] : NONE,
    cost: (bounds) => tokenCost(model, ask, bounds),
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
      'background is not served here, because the answer to this call would not carry the usage. Leave it out.',
    );
  }
}

/** Input tokens from which on an entry of the type `compaction` has the conversation summarised. */
function compactsAt(management: unknown): number | undefined {
  if (!Array.isArray(management)) return undefined;
  const thresholds = management.filter(isObject).map(({ compact_threshold: at }) => tokensOf(at));
  return thresholds.length === 0 ? undefined : Math.min(...thresholds);
}

function tokensOf(threshold: unknown): number {
  if (threshold === undefined || threshold === null) return COMPACTS_AT;
  return typeof threshold === 'number' && threshold >= 0 ? threshold : 0;
}
