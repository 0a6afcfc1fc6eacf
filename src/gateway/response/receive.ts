import { GatewayError } from '../../domain/errors.ts';
import type { Form } from '../../metering/answer.ts';
import { failureOfAnswer, isHandedOver } from '../targets/failures.ts';
import type { AttemptFailure, OpenAttempt } from '../targets/open-attempt.ts';
import { ErrorFilter, unmeasured } from '../upstream/credential.ts';
import { codingsOf, decode, decodedHead, type Source } from '../upstream/decode.ts';
import type { AnswerSink, UpstreamAnswer } from '../upstream/exchange.ts';
import { undecodable, unforwardableStatus } from '../upstream/failure.ts';
import { AnswerStart, formDecider, isSound } from './answer-start.ts';
import { BytesRelay } from './bytes-relay.ts';
import type { ClientResponse } from './client-response.ts';
import { HeldError } from './held-error.ts';
import { JsonRelay } from './json-relay.ts';
import type { Relay } from './reading.ts';
import { StreamRelay } from './stream-relay.ts';

/**
 * Takes the head of an upstream's answer and chooses what reads its body: a relay by the form that its first bytes show,
 * or, for a status with which the call may go to the next target, a buffer.
 */
export function receive(encoded: UpstreamAnswer, response: ClientResponse, attempt: OpenAttempt): void {
  const { call, raw, trace } = response;
  const { statusCode } = encoded;
  attempt.head(statusCode);
  trace?.head(statusCode);
  const isFailure = isHandedOver(statusCode);
  const codings = codingsOf(encoded);
  const isReadable = codings !== undefined || attempt.isRefused;
  const refusal =
    (isFailure ? undefined : unforwardableStatus(statusCode)) ?? (isReadable ? undefined : undecodable());
  if (refusal) {
    attempt.failed({
      kind: 'final',
      failure: { status: statusCode, cause: 'error', error: `HTTP ${statusCode}: ${refusal.message}` },
      show: () => response.fail(refusal, 'upstream_error'),
    });
    return;
  }
  // It waits no longer for the first bytes than for the others.
  let answer = codings ? decodedHead(encoded) : encoded;
  const held = isFailure
    ? new HeldError((error) => attempt.failed(refusalOf(answer, error, response, attempt)))
    : mayRefuseOptions(statusCode, call.sent.addedOptions)
      ? new HeldError((error) => repeatOrPass(answer, error, response, attempt))
      : undefined;
  decode(encoded, {
    codings,
    isBinary: !attempt.isRefused && isSound(encoded, call),
    raw,
    open: (decoded, source) => {
      answer = decoded;
      if (held) return held;
      if (!attempt.isRefused) return startOf(answer, source, response);
      attempt.answered();
      return refusalSink(answer, response);
    },
  });
}

/** The failure of a target that refused the call. */
function refusalOf(
  answer: UpstreamAnswer,
  held: HeldError,
  response: ClientResponse,
  { exchange }: OpenAttempt,
): AttemptFailure {
  return {
    kind: 'answered',
    failure: failureOfAnswer(answer, held.body, response.call.facts.model.upstream),
    show() {
      const unforwardable = unforwardableStatus(answer.statusCode);
      if (unforwardable) {
        response.fail(unforwardable, 'upstream_error');
        return;
      }
      if (exchange.isCancelled) held.end();
      held.passTo(refusalSink(answer, response));
    },
  };
}

/** Whether an answer with this status may be for `stream_options` that the client did not send. */
function mayRefuseOptions(status: number, addedOptions: boolean): boolean {
  return (status === 400 || status === 422) && addedOptions;
}

/** Such an answer came. If it names them, the call is sent once more without. */
function repeatOrPass(
  answer: UpstreamAnswer,
  held: HeldError,
  response: ClientResponse,
  attempt: OpenAttempt,
): void {
  if (!response.hasLeft && held.body.includes('stream_options')) {
    attempt.repeat();
    return;
  }
  attempt.answered();
  held.passTo(refusalSink(answer, response));
}

/** The sink for a refusal by the provider that the client gets. */
function refusalSink(answer: UpstreamAnswer, response: ClientResponse): AnswerSink {
  const { facts } = response.call;
  const { upstream } = facts.model;
  // In a stream whose head the client has, it is shown as an event.
  if (response.hasHead && facts.isStream)
    return new HeldError(({ body }) => {
      const { error } = failureOfAnswer(answer, body, upstream);
      response.fail(new GatewayError('upstream_unavailable', error), 'upstream_error');
    });
  return new ErrorFilter(relayFor(unmeasured(answer), 'json', response), upstream);
}

/** Until its first bytes have come, an answer is of no form. */
function startOf(answer: UpstreamAnswer, source: Source, response: ClientResponse): AnswerStart {
  const { call } = response;
  const start = new AnswerStart({
    formOf: formDecider(answer, call),
    blank: isSound(answer, call) ? undefined : (text) => response.ping(answer, text),
    relayFor: (form) => relayFor(answer, form, response),
    pipe: (relay) => source.pipe(relay),
  });
  response.relay = start;
  return start;
}

function relayFor(answer: UpstreamAnswer, form: Form, response: ClientResponse): Relay & AnswerSink {
  const isBytes = form === 'bytes' && response.call.endpoint.answersBytes;
  if (form === 'stream') response.streamBegan();
  const relay =
    form === 'stream'
      ? new StreamRelay(response, answer)
      : isBytes
        ? new BytesRelay(response, answer)
        : new JsonRelay(response, answer, form);
  response.relay = relay;
  return relay;
}
