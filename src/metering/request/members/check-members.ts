import { foldName } from '../../../domain/field-names.ts';
import { isObject } from '../../json-value.ts';
import type { MeteredBody } from '../../metered-body.ts';
import type { Charge } from '../asked.ts';
import { refuseModels } from '../charges.ts';
import type { Member, Members } from './members.ts';

/** Providers whose requests the tables know whole, so that a member which is in no table is new. */
const KNOWN_PROVIDERS: ReadonlySet<string | undefined> = new Set(['openai', 'anthropic']);
/** What changes the cost of a call, in the words that vendors name members and values by. */
const COSTLY = /agent|tool|model|tier|speed|fast|cach|background|search|fallback/;
/** A value that chooses something, and no prose. */
const SETTING = /^\S{1,64}$/;
/** Most names and values inside an unknown member that are looked at. */
const MOST_INSIDE = 100;
const MOST_NAME = 100;
/** Most unknown members of one request that are told apart. */
const MOST_UNKNOWN = 20;

/** What the names in a request say, without their values. */
export interface MemberFindings {
  /** What none of its members may ask for without a price. */
  readonly charges: readonly Charge[];
  /** Members that no table has, as `reasoning.style`. */
  readonly unknown: readonly string[];
}

/**
 * Compares the members of a request with the tables. Throws 400 `invalid_field` for a member by which another model would run.
 *
 * A member of the request costs one look into a Map; on upstreams of OpenAI and Anthropic so does one of its messages, tools
 * and options. No recursion, because a client decides how deep its JSON is.
 */
export function checkMembers({ kind, model, value }: MeteredBody, table: Members): MemberFindings {
  const walk = new Walk(KNOWN_PROVIDERS.has(model.upstream.provider) && model.priceSource !== 'free');
  walk.request(value, table, kind === 'form');
  walk.rest();
  return walk;
}

class Walk implements MemberFindings {
  readonly charges: Charge[] = [];
  readonly unknown: string[] = [];
  readonly #knowsAll: boolean;
  /** Whether an unknown member is among the charges; one is enough for a refusal. */
  #isCostly = false;
  /** Stacks of the objects and lists that are still to be compared, of their tables and of their paths. */
  readonly #open: object[] = [];
  readonly #tables: Members[] = [];
  readonly #paths: string[] = [];

  constructor(knowsAll: boolean) {
    this.#knowsAll = knowsAll;
  }

  request(value: Readonly<Record<string, unknown>>, table: Members, isForm: boolean): void {
    for (const written in value) {
      // Fields of a form such as `include[]` and `svg[model]`.
      const name = isForm ? (written.split('[', 1)[0] as string) : written;
      const member = table.get(name);
      if (member === undefined) this.#strange(name, value[written], table);
      else if (member.refusal !== undefined) this.#refused(name, value[written], member);
      else if (member.within !== undefined) this.#push(value[written], member.within, name);
    }
  }

  rest(): void {
    for (let inner = this.#open.pop(); inner !== undefined; inner = this.#open.pop()) {
      const table = this.#tables.pop() as Members;
      const path = this.#paths.pop() as string;
      if (Array.isArray(inner)) {
        for (const element of inner) this.#push(element, table, path);
      } else this.#object(inner as Readonly<Record<string, unknown>>, table, path);
    }
  }

  #object(object: Readonly<Record<string, unknown>>, table: Members, path: string): void {
    for (const name in object) {
      const member = table.get(name);
      if (member === undefined) this.#unknown(name, object[name], path);
      else if (member.within !== undefined) this.#push(object[name], member.within, path);
    }
  }

  /** `path`: the member of the request that has them. Those deeper inside keep it, as messages have no end of levels. */
  #push(value: unknown, table: Members, path: string): void {
    if (!this.#knowsAll || typeof value !== 'object' || value === null) return;
    this.#open.push(value);
    this.#tables.push(table);
    this.#paths.push(path);
  }

  #refused(name: string, value: unknown, { refusal }: Member): void {
    if (refusal === 'always') this.#always(name);
    else if (refusal === 'fee' && (value ?? false) !== false) this.charges.push({ param: name, what: name });
    else if (refusal === 'other model') refuseModels({ [name]: value }, [name]);
  }

  #always(name: string): void {
    this.charges.push({ param: name, what: `${name}, whose subagents nothing limits` });
  }

  /** A member of the request that no table has by this spelling. */
  #strange(name: string, value: unknown, table: Members): void {
    const folded = foldName(name);
    if (table.get(folded)?.refusal === 'always') this.#always(folded);
    else this.#unknown(name, value, '');
  }

  #unknown(name: string, value: unknown, within: string): void {
    if (!this.#knowsAll || value === undefined || value === null) return;
    const isFull = this.unknown.length >= MOST_UNKNOWN;
    if (isFull && this.#isCostly) return;
    const path = (within ? `${within}.${name}` : name).slice(0, MOST_NAME);
    if (!isFull) this.unknown.push(path);
    if (this.#isCostly || !speaksOfCost(name, value)) return;
    this.#isCostly = true;
    this.charges.push({
      param: path,
      what: `${path}, an unknown field that could change the cost of the call`,
      setting: 'pricing.unpriced: pass',
    });
  }
}

/** Whether the name or the value of a member speaks of what providers bill. Of objects the names and values inside count. */
function speaksOfCost(name: string, value: unknown): boolean {
  if (COSTLY.test(foldName(name))) return true;
  const open: unknown[] = [value];
  // The list grows while it is walked.
  for (const inner of open) {
    if (typeof inner === 'string') {
      if (SETTING.test(inner) && COSTLY.test(foldName(inner))) return true;
    } else if (Array.isArray(inner)) {
      if (open.length < MOST_INSIDE) open.push(...inner.slice(0, MOST_INSIDE));
    } else if (isObject(inner)) {
      for (const inside in inner) {
        if (COSTLY.test(foldName(inside))) return true;
        if (open.length < MOST_INSIDE) open.push(inner[inside]);
      }
    }
  }
  return false;
}
