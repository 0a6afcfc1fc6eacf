import { checkMessage, estimateMessage, messagesHold } from './messages-request.ts';
import { MessagesStream } from './messages-stream.ts';
import { messageResourceIds, messagesUsage, messagesWritten } from './messages-usage.ts';
import type { Meter } from './meter.ts';
import { saysError } from './says-error.ts';

/** `/v1/messages`. */
export const messages: Meter = {
  check: checkMessage,
  hold: messagesHold,
  usage: messagesUsage,
  written: messagesWritten,
  failed: saysError,
  resourceIds: messageResourceIds,
  stream: () => new MessagesStream(),
  estimate: estimateMessage,
};
