import { estimateChat, writtenIn } from './chat-estimate.ts';
import { chatHold } from './chat-hold.ts';
import { ChatStream } from './chat-stream.ts';
import { chatResourceIds, chatUsage } from './chat-usage.ts';
import type { Meter } from './meter.ts';
import { countOf } from './metered-body.ts';
import { isObject } from './parts.ts';
import { saysError } from './says-error.ts';

/** `/v1/chat/completions`. */
export const chat: Meter = {
  hold: chatHold,
  usage: chatUsage,
  written: writtenIn,
  failed: saysError,
  stream: (injectedUsage, body) =>
    new ChatStream({
      injectedUsage,
      isInterleaved: (countOf(body, 'n') ?? 1) > 1,
      // Each chunk is looked into, so only where sound is asked for.
      hasSound: isObject(body.value.audio),
    }),
  resourceIds: chatResourceIds,
  estimate: estimateChat,
};
