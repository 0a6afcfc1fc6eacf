import { setTimeout as sleep } from 'node:timers/promises';
import { type Listening, listen, receive, writePiece } from '../../../../src/demo/demo-provider.ts';
import { answerOf } from './answers.ts';
import { billOf } from './bill.ts';
import { type Format, useOf } from './bounded-use.ts';
import { Random } from './random.ts';

const FORMATS: Readonly<Record<string, Format>> = {
  '/v1/chat/completions': 'chat',
  '/v1/responses': 'responses',
  '/v1/messages': 'messages',
};
/** Longest pause before an answer and between its pieces. */
const HEAD_MS = 300;
const PIECE_MS = 30;

/** A call that reached the provider. */
export interface BilledCall {
  /** Whom the request names as its user. */
  readonly owner: string;
  /** Micro-credits; 0 for an error. */
  readonly bill: number;
}

export interface BillingProvider extends Listening {
  readonly calls: readonly BilledCall[];
  /** Faults: a bound that was not sent, or a call that was cut off. */
  readonly faults: readonly string[];
  /** Calls that are being answered. */
  readonly open: number;
}

/** Starts a provider that keeps to the bounds of each request and writes the bill of each call at its start. */
export async function startBillingProvider(seed: number): Promise<BillingProvider> {
  const random = new Random(seed);
  const calls: BilledCall[] = [];
  const faults: string[] = [];
  let open = 0;
  const server = await listen({}, async (message, response) => {
    const { url, body } = await receive(message);
    const format = FORMATS[url.split('?', 1)[0] as string];
    if (!format) throw new Error(`no such route: ${url}`);
    const asked = JSON.parse(body.toString()) as Record<string, unknown>;
    const metadata = asked.metadata as { user_id?: string } | undefined;
    const owner = String(asked.user ?? metadata?.user_id);
    open++;
    try {
      if (random.chance(0.03)) {
        calls.push({ owner, bill: 0 });
        response.writeHead(random.of([400, 429, 500, 529]), { 'content-type': 'application/json' });
        response.end('{"error":{"message":"no","type":"t","code":"c"}}');
        return;
      }
      const use = useOf(format, asked, random);
      calls.push({ owner, bill: billOf(use) });
      const { whole, events } = answerOf(format, use, random);
      await sleep(random.upTo(HEAD_MS));
      const isStream = asked.stream === true;
      response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
      for (const piece of isStream ? events : [JSON.stringify(whole)]) {
        if (response.destroyed) faults.push(`a ${format} call was cut before its end`);
        if (response.destroyed) return;
        await writePiece(response, piece);
        await sleep(random.upTo(PIECE_MS));
      }
      response.end();
    } catch (error) {
      faults.push(String(error));
      throw error;
    } finally {
      open--;
    }
  });
  return {
    ...server,
    calls,
    faults,
    get open() {
      return open;
    },
  };
}
