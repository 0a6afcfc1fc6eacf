import { type Form, formOf, formOfSound } from '../../metering/answer.ts';
import type { ReadCall } from '../call.ts';
import type { AnswerSink, UpstreamAnswer } from '../upstream/exchange.ts';
import type { Reading, Relay } from './reading.ts';

type DecideForm = (text: string, isEnd: boolean) => Form | undefined;

const EVENT_STREAM = /^text\/event-stream/i;
const JSON_TYPE = /\bjson\b/i;

function labelOf({ headers }: UpstreamAnswer): string {
  return String(headers['content-type']);
}

/** Whether the answer should be sound: bytes that can look like anything. */
export function isSound(answer: UpstreamAnswer, { endpoint, facts }: ReadCall): boolean {
  if (!endpoint.answersBytes || facts.isStream) return false;
  return !EVENT_STREAM.test(labelOf(answer)) && !JSON_TYPE.test(labelOf(answer));
}

/** How the form of an answer is decided. */
export function formDecider(answer: UpstreamAnswer, { endpoint, facts }: ReadCall): DecideForm {
  // A transcript can begin with anything.
  if (endpoint.meter.answersText?.(facts) && !facts.isStream) return () => 'bytes';
  if (!endpoint.answersBytes) return formOf;
  const { isStream } = facts;
  const isSaidStream = isStream || EVENT_STREAM.test(labelOf(answer));
  const isSaidJson = isStream || JSON_TYPE.test(labelOf(answer));
  return (text, isEnd) => {
    const form = isSaidStream || isSaidJson ? formOf(text, isEnd) : 'bytes';
    return form === 'bytes' || (form === 'json' && !isSaidJson) ? formOfSound(text, isEnd) : form;
  };
}

/** Gives an AnswerStart its parts. */
interface Beginning {
  /** Decides by the first bytes (Latin-1); undefined if more are needed. */
  readonly formOf: DecideForm;
  /** Called with each piece of white space before anything else, which the client gets at once. Absent for sound. */
  readonly blank: ((text: string) => void) | undefined;
  /** The relay of an answer of this form; called once. */
  relayFor(form: Form): Relay & AnswerSink;
  /** Has the rest of the answer go to the relay directly. */
  pipe(relay: AnswerSink): void;
}

/** The start of an answer, held until its first bytes tell what it is; then it is out of the way. */
export class AnswerStart implements AnswerSink, Relay {
  readonly #beginning: Beginning;
  #held: Buffer[] = [];
  #text = '';
  #relay: (Relay & AnswerSink) | undefined;

  constructor(beginning: Beginning) {
    this.#beginning = beginning;
  }

  reading(): Reading | undefined {
    if (this.#text !== '') this.#begin('json');
    return this.#relay?.reading();
  }

  data(chunk: Buffer): boolean {
    if (this.#relay) return this.#relay.data(chunk);
    this.#held.push(chunk);
    this.#text += chunk.toString('latin1');
    const form = this.#beginning.formOf(this.#text, false);
    if (form) return this.#begin(form);
    const { blank } = this.#beginning;
    if (blank && this.#text.trim() === '') {
      blank(this.#text);
      this.#held = [];
      this.#text = '';
    }
    return true;
  }

  end(): void {
    this.#decided().end();
  }

  error(error: Error): void {
    this.#decided().error(error);
  }

  #decided(): Relay & AnswerSink {
    if (!this.#relay) this.#begin(this.#beginning.formOf(this.#text, true) ?? 'bytes');
    return this.#relay as Relay & AnswerSink;
  }

  #begin(form: Form): boolean {
    const relay = this.#beginning.relayFor(form);
    this.#relay = relay;
    this.#text = '';
    this.#beginning.pipe(relay);
    let flowing = true;
    for (const chunk of this.#held) flowing = relay.data(chunk);
    this.#held = [];
    return flowing;
  }
}
