import type { Meter } from './meter.ts';
import { isObject } from './parts.ts';
import { checkResponse, estimateResponse, responsesHold } from './responses-request.ts';
import { ResponsesStream } from './responses-stream.ts';
import { responseResourceIds, responsesUsage, responsesWritten } from './responses-usage.ts';
import { saysError } from './says-error.ts';

/** `/v1/responses`. */
export const responses: Meter = {
  check: checkResponse,
  hold: responsesHold,
  usage: responsesUsage,
  written: responsesWritten,
  failed: (answer) => saysError(answer) || (isObject(answer) && answer.status === 'failed'),
  resourceIds: responseResourceIds,
  stream: () => new ResponsesStream(),
  estimate: estimateResponse,
};
