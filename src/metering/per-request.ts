import { holdFor } from '../domain/price.ts';
import { type Meter, type StreamMeter, saysError } from './meter.ts';
import { fixedCost } from './request/asked.ts';

const PASSES: StreamMeter = {
  event: () => 'pass',
  kept: {},
  pieces: 0,
  usage: {},
  outputText: () => '',
};

/**
 * Endpoints whose tokens are not charged, `/v1/moderations` and `/v1/messages/count_tokens`: the price per request is
 * the hold and the charge (specification section 5), whatever is sent and whatever the answer reports.
 */
export const perRequest: Meter = {
  ask: ({ model }) => fixedCost(holdFor(model.price, {})),
  usage: (answer) => (saysError(answer) ? undefined : {}),
  failed: saysError,
  outputText: () => '',
  stream: () => PASSES,
  estimate: async () => ({}),
};
