import { estimateChat, writtenIn } from './chat-estimate.ts';
import { chatHold } from './chat-hold.ts';
import { ChatStream } from './chat-stream.ts';
import { chatUsage } from './chat-usage.ts';
import type { Meter } from './meter.ts';

/** `/v1/chat/completions`. */
export const chat: Meter = {
  hold: chatHold,
  usage: chatUsage,
  written: writtenIn,
  stream: (injectedUsage) => new ChatStream(injectedUsage),
  estimate: estimateChat,
};
