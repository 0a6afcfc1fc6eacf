import { Button } from '@mantine/core';
import type { CallView } from '../../../api/calls/call-view.ts';
import type { ModelView } from '../../../api/models/model-view.ts';
import { ApiFailure } from '../data/api-failure.ts';
import { ask, askRaw } from '../data/client.ts';
import { useChange } from '../data/query.ts';
import { Amount } from '../ui/amount.tsx';
import { CopyValue } from '../ui/copy.tsx';
import { Fact, Facts } from '../ui/elements.tsx';
import { Failure } from '../ui/note.tsx';
import { CHAT, MESSAGES, OUTPUT_TOKENS, testPrice } from './cheapest.ts';

/** Sends one small call with a new key, and shows the answer, what it was charged, and its request id. */
export function TestCall({ value, model }: { value: string; model: ModelView }) {
  const call = useChange(() => sendTestCall(value, model));
  return (
    <div className="test-call">
      <Button loading={call.isPending} onClick={() => call.mutate()}>
        Send a test call
      </Button>
      <p className="hint">
        It costs at most <Amount of={Math.ceil(testPrice(model) * 1_000_000) / 1_000_000} /> credits.
      </p>
      <Failure error={call.error} />
      <div aria-live="polite">{call.data && <Answer of={call.data} />}</div>
    </div>
  );
}

function Answer({ of: { text, charge, id } }: { of: TestAnswer }) {
  return (
    <>
      <Facts>
        <Fact name="Answer">{text}</Fact>
        <Fact name="Charge">
          {charge === undefined ? 'Not known yet. See Requests.' : <Amount of={charge} />}
        </Fact>
      </Facts>
      <CopyValue label="Request ID" value={id} />
    </>
  );
}

interface TestAnswer {
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
 * Sends one small call with a key, and looks up what it was charged. Rejects with an ApiFailure if the call is refused
 * or fails.
 */
async function sendTestCall(bearer: string, model: ModelView): Promise<TestAnswer> {
  const response = model.endpoints.includes(CHAT)
    ? await sendChat(bearer, model)
    : await send(bearer, MESSAGES, model, 'max_tokens');
  const id = response.headers.get('x-request-id') ?? '';
  const text = textOf((await response.json()) as ModelAnswer);
  return { text: text || `No text within ${OUTPUT_TOKENS} tokens.`, charge: await chargeOf(bearer, id), id };
}

/** OpenAI's models that reason refuse `max_tokens`, and some other providers its newer name: those are asked again. */
async function sendChat(bearer: string, model: ModelView): Promise<Response> {
  try {
    return await send(bearer, CHAT, model, 'max_completion_tokens');
  } catch (refusal) {
    const isOfProvider = refusal instanceof ApiFailure && refusal.isOfProvider;
    if (!isOfProvider || ![400, 422].includes(refusal.status)) throw refusal;
    return await send(bearer, CHAT, model, 'max_tokens');
  }
}

function send(
  bearer: string,
  path: string,
  { id: model }: ModelView,
  maximum: 'max_tokens' | 'max_completion_tokens',
): Promise<Response> {
  const body = { model, [maximum]: OUTPUT_TOKENS, messages: [{ role: 'user', content: MESSAGE }] };
  return askRaw(path, { method: 'POST', body, bearer });
}

/** The parts of a chat answer, or of one of the messages API, that have its text. */
interface ModelAnswer {
  readonly choices?: readonly { readonly message?: { readonly content?: string | null } }[];
  readonly content?: readonly { readonly text?: string }[];
}

function textOf({ choices, content }: ModelAnswer): string {
  return choices?.[0]?.message?.content ?? content?.map(({ text }) => text ?? '').join('') ?? '';
}

async function chargeOf(bearer: string, id: string): Promise<string | undefined> {
  const path = `/api/account/calls/${encodeURIComponent(id)}/`;
  for (let look = 0; look < LOOKS; look++) {
    try {
      return (await ask<CallView>(path, { bearer })).charge;
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.code !== 'call_not_found') return undefined;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  return undefined;
}
