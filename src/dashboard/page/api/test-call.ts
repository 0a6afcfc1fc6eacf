import type { CallView } from '../../../api/calls/call-view.ts';
import type { ModelView } from '../../../api/models/model-view.ts';
import { CHAT, MESSAGES, OUTPUT_TOKENS } from '../use-key/cheapest.ts';
import { ApiFailure } from './api-failure.ts';
import { ask, askRaw } from './request.ts';

export interface TestAnswer {
  readonly text: string;
  /** Decimal string of credits; undefined if the call is not recorded yet. */
  readonly charge: string | undefined;
  readonly id: string;
}

const MESSAGE = 'Say hello in one short sentence.';
/** A call is recorded as soon as it is in the ledger, a moment after its answer. */
const LOOKS = 10;
const LOOK_EVERY_MS = 300;

/**
 * Sends one small call with the key `token`, and looks up what it was charged. Rejects with an ApiFailure where the
 * call is refused or fails.
 */
export async function sendTestCall(token: string, model: ModelView): Promise<TestAnswer> {
  const response = model.endpoints.includes(CHAT)
    ? await sendChat(token, model)
    : await send(token, MESSAGES, model, 'max_tokens');
  const id = response.headers.get('x-request-id') ?? '';
  const text = textOf((await response.json()) as Answer);
  return { text: text || `no text within ${OUTPUT_TOKENS} tokens`, charge: await chargeOf(token, id), id };
}

/** OpenAI's models that reason refuse `max_tokens`, and some other providers its newer name: those are asked again. */
async function sendChat(token: string, model: ModelView): Promise<Response> {
  try {
    return await send(token, CHAT, model, 'max_completion_tokens');
  } catch (refusal) {
    const isOfProvider = refusal instanceof ApiFailure && refusal.isOfProvider;
    if (!isOfProvider || ![400, 422].includes(refusal.status)) throw refusal;
    return await send(token, CHAT, model, 'max_tokens');
  }
}

function send(
  token: string,
  path: string,
  { id: model }: ModelView,
  maximum: 'max_tokens' | 'max_completion_tokens',
): Promise<Response> {
  const body = { model, [maximum]: OUTPUT_TOKENS, messages: [{ role: 'user', content: MESSAGE }] };
  return askRaw('POST', path, { token, body });
}

/** The parts of a chat answer, or of one of the messages API, that have its text. */
interface Answer {
  readonly choices?: readonly { readonly message?: { readonly content?: string | null } }[];
  readonly content?: readonly { readonly text?: string }[];
}

function textOf({ choices, content }: Answer): string {
  return choices?.[0]?.message?.content ?? content?.map(({ text }) => text ?? '').join('') ?? '';
}

async function chargeOf(token: string, id: string): Promise<string | undefined> {
  for (let look = 0; look < LOOKS; look++) {
    try {
      return (await ask<CallView>('GET', `/api/account/calls/${encodeURIComponent(id)}/`, { token })).charge;
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.code !== 'call_not_found') return undefined;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  return undefined;
}
