import { IMAGE_TOKENS, inputOf, MAX_OUTPUT, type Pass, TOOL_TOKENS, type Use, WINDOW } from './bill.ts';
import type { Random } from './random.ts';

type Body = Readonly<Record<string, unknown>>;
export type Format = 'chat' | 'responses' | 'messages';

/** Bounds of a call as the provider reads them from the request that reached it. */
interface Bounds {
  /** Tokens of the text, one for each byte. */
  readonly text: number;
  readonly files: number;
  readonly pictures: number;
  readonly rounds: number;
  readonly searches: number;
  /** A server of the client, which can fill the context in each pass. */
  readonly isOpen: boolean;
  readonly output: number;
  readonly answers: number;
}

/** A bound of tools that the provider runs and that did not reach it. */
export class Unbounded extends Error {}

/** Chooses the usage of a call within the bounds of its request and its model. Two of five calls use the maximum. */
export function useOf(format: Format, body: Body, random: Random): Use {
  const bounds = boundsOf(format, body);
  const usesAll = random.chance(0.4);
  const draw = (most: number) => (usesAll ? most : random.upTo(most));
  const rounds = draw(bounds.rounds);
  const inputs = inputsOf(bounds, rounds, draw);
  let output = draw(bounds.output) * bounds.answers;
  const asksLong = JSON.stringify(body).includes('"ttl":"1');
  const passes = inputs.map((input, index): Pass => {
    const isLast = index === inputs.length - 1;
    const said = isLast ? output : random.upTo(output);
    output -= said;
    return { ...split(input, asksLong, random), output: said };
  });
  return {
    passes,
    // A chat doesn't report its search, so it counts as made.
    searches: format === 'chat' ? bounds.searches : Math.min(draw(bounds.searches), rounds),
    isFlex: body.service_tier === 'flex' && random.chance(0.8),
    tellsPasses: format === 'messages',
    isRefused: format === 'messages' && random.chance(0.05),
  };
}

/** Input of each pass: the request, and the additions of each round of tools. No pass reads more than the window. */
function inputsOf(bounds: Bounds, rounds: number, draw: (most: number) => number): number[] {
  const media = bounds.files * draw(WINDOW) + bounds.pictures * draw(IMAGE_TOKENS);
  const inputs = [Math.min(WINDOW, bounds.isOpen ? draw(WINDOW) : Math.max(1, draw(bounds.text)) + media)];
  for (let round = 0; round < rounds; round++) {
    const found = draw(bounds.isOpen ? WINDOW : TOOL_TOKENS);
    inputs.push(Math.min(WINDOW, (inputs.at(-1) as number) + found));
  }
  return inputs;
}

function split(input: number, asksLong: boolean, random: Random): Omit<Pass, 'output'> {
  const cached = random.chance(0.3) ? random.upTo(input) : 0;
  const written = random.chance(0.3) ? random.upTo(input - cached) : 0;
  return {
    plain: input - cached - written,
    cached,
    written: asksLong ? 0 : written,
    writtenLong: asksLong ? written : 0,
  };
}

function boundsOf(format: Format, body: Body): Bounds {
  const said = mediaOf(format === 'responses' ? body.input : body.messages);
  const tools = Array.isArray(body.tools) ? (body.tools as Body[]) : [];
  if (format === 'chat') {
    const searches = body.web_search_options ? 1 : 0;
    const output = maximum(body.max_completion_tokens ?? body.max_tokens);
    return { ...said, rounds: searches, searches, isOpen: false, output, answers: Number(body.n ?? 1) };
  }
  if (format === 'responses') {
    const isOpen = tools.some(({ type }) => type === 'mcp');
    const searches = tools.some(({ type }) => type === 'web_search');
    const rounds = isOpen || searches ? sentBound(body.max_tool_calls, 'max_tool_calls') : 0;
    const output = maximum(body.max_output_tokens);
    return { ...said, rounds, searches: searches ? rounds : 0, isOpen, output, answers: 1 };
  }
  const uses = (type: string) =>
    tools
      .filter((tool) => String(tool.type).startsWith(type))
      .reduce((sum, { max_uses: most }) => sum + sentBound(most, 'max_uses'), 0);
  for (const { type, max_content_tokens: most } of tools)
    if (String(type).startsWith('web_fetch_')) sentBound(most, 'max_content_tokens');
  const searches = uses('web_search_');
  const rounds = searches + uses('web_fetch_');
  return { ...said, rounds, searches, isOpen: false, output: maximum(body.max_tokens), answers: 1 };
}

function maximum(named: unknown): number {
  return typeof named === 'number' && named > 0 ? named : MAX_OUTPUT;
}

function sentBound(value: unknown, name: string): number {
  if (typeof value !== 'number') throw new Unbounded(`${name} did not reach the provider`);
  return value;
}

function mediaOf(messages: unknown): Pick<Bounds, 'text' | 'files' | 'pictures'> {
  let text = 0;
  let files = 0;
  let pictures = 0;
  const open: unknown[] = [messages];
  for (const value of open) {
    if (Array.isArray(value)) open.push(...value);
    else if (typeof value === 'string') text += Buffer.byteLength(value);
    else if (typeof value === 'object' && value !== null) {
      const part = value as Body;
      if (typeof part.text === 'string') text += Buffer.byteLength(part.text);
      else if (/image/.test(String(part.type))) pictures++;
      else if (/file|document/.test(String(part.type))) files++;
      else open.push(part.content);
    }
  }
  return { text, files, pictures };
}

/** Input tokens of all passes. */
export function totalInput({ passes }: Use): number {
  return passes.reduce((sum, pass) => sum + inputOf(pass), 0);
}
