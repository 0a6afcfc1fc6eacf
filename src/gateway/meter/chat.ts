import { countOf } from '../body.ts';
import { estimateChat, writtenIn } from './chat-estimate.ts';
import { chatHold } from './chat-hold.ts';
import { ChatStream } from './chat-stream.ts';
import { chatUsage } from './chat-usage.ts';
import type { Meter } from './meter.ts';
import { saysError } from './says-error.ts';

/** `/v1/chat/completions`. */
export const chat: Meter = {
  hold: chatHold,
  usage: chatUsage,
  written: writtenIn,
  failed: saysError,
  stream: (injectedUsage, body) =>
    new ChatStream({ injectedUsage, isInterleaved: (countOf(body, 'n') ?? 1) > 1 }),
  estimate: estimateChat,
};
