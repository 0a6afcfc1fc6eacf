import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Behaviour, Piece } from './behaviour.ts';

export interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly pieces: readonly Piece[];
}

/**
 * Writes the answer piece by piece, with the pauses, the break or the stall that the behaviour orders. Ends early where
 * the client has left.
 */
export async function sendAnswer(
  response: ServerResponse,
  answer: Answer,
  behaviour: Behaviour,
): Promise<void> {
  const { breakAfter, stallAfter, intervalMs = 0 } = behaviour;
  if (behaviour.delayMs) await sleep(behaviour.delayMs);
  if (breakAfter === 'nothing') return breakOff(response);
  if (stallAfter === 'nothing') return;
  response.writeHead(answer.status, answer.headers);
  for (const [sent, piece] of answer.pieces.entries()) {
    if (sent > 0 && intervalMs > 0) await sleep(intervalMs);
    if (breakAfter === sent) return breakOff(response);
    if (stallAfter === sent) return response.flushHeaders();
    if (response.destroyed) return;
    if (!response.write(piece)) await drained(response);
  }
  if (breakAfter !== undefined) return breakOff(response);
  if (stallAfter === undefined) response.end();
}

/** After what was written has gone out: a break is a connection lost after so many pieces, not lost pieces. */
function breakOff(response: ServerResponse): void {
  if (response.headersSent) response.flushHeaders();
  response.socket?.destroySoon();
}

/** Resolves when the client takes more, or is gone. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}
