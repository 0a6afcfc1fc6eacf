import { CLIENT_QUIRKS } from '../domain/clients.ts';
import { foldName, GatewayError } from '../domain/errors.ts';
import type { ParsedRequest } from './meter.ts';
import { refuseModels, type Surcharge } from './plan.ts';

/**
 * Treatment of a request member (docs/charges.md): `priced` by a separate unit, `held` as tokens, `refused` if no price
 * could be right, `free` if the provider doesn't charge for it.
 */
export type Treatment = 'priced' | 'held' | 'refused' | 'free';

export interface Member {
  readonly treatment: Treatment;
  /** Text after the treatment in docs/charges.md and OpenAPI: the unit of a price, the bound of a hold, the reason. */
  readonly text?: string;
  /** An uploaded file of a form. */
  readonly isFile?: true;
  /** Checks or holds read the value, so a body must not repeat it in any letter case. */
  readonly isRead: boolean;
  /** Refused by presence alone; absent: the endpoint's code decides by value. */
  readonly refusal?: 'other model' | 'fee' | 'unreported' | 'always';
  /** Table for the members of the value, or of its elements; absent: not checked. */
  readonly within?: Members;
  /** The content is free text and needs no table. */
  readonly isOpen: boolean;
}

/** Members of one place in a request, by name. */
export type Members = ReadonlyMap<string, Member>;

/** Space-separated names by treatment. `name.*` is open: its content costs no more than its text. */
interface Lists {
  readonly priced?: string;
  readonly held?: string;
  readonly free?: string;
  /** Free, but decides how the rest is read. */
  readonly read?: string;
  /** Uploaded files of a form: priced, and read as files. */
  readonly files?: string;
  /** Refused by the endpoint's code, depending on the value. */
  readonly refused?: string;
  /** Refused: would run a model that was neither checked nor priced. */
  readonly otherModels?: string;
  /** Refused unless null or false: fees without a unit. */
  readonly fees?: string;
  /** Refused unless null or false: the answer would not report the cost. */
  readonly unreported?: string;
  /** Refused with any value, in any letter case. */
  readonly always?: string;
  /** Tables for nested objects, by name. `self`: this table. */
  readonly within?: Readonly<Record<string, Members | 'self'>>;
  /** `Member.text` by space-separated names. */
  readonly texts?: Readonly<Record<string, string>>;
}

const LISTS: readonly (readonly [keyof Lists, Omit<Member, 'isOpen' | 'within'>])[] = [
  ['priced', { treatment: 'priced', isRead: true }],
  ['held', { treatment: 'held', isRead: true }],
  ['free', { treatment: 'free', isRead: false }],
  ['read', { treatment: 'free', isRead: true }],
  ['files', { treatment: 'priced', isRead: false, isFile: true }],
  ['refused', { treatment: 'refused', isRead: true }],
  ['otherModels', { treatment: 'refused', isRead: true, refusal: 'other model', text: 'another model' }],
  ['fees', { treatment: 'refused', isRead: true, refusal: 'fee', text: 'unknown price' }],
  [
    'unreported',
    {
      treatment: 'refused',
      isRead: true,
      refusal: 'unreported',
      text: 'the answer would not report the usage',
    },
  ],
  [
    'always',
    {
      treatment: 'refused',
      isRead: false,
      refusal: 'always',
      text: 'nothing limits the number of agents',
    },
  ],
];

const OPEN = '.*';

/** Builds the table. Throws if a name is in two lists, or only in `within` or `texts`. */
export function membersOf(lists: Lists): Members {
  const table = new Map<string, Member>();
  for (const [list, member] of LISTS) {
    const names = lists[list];
    if (typeof names !== 'string') continue;
    for (const written of names.trim().split(/\s+/)) {
      const isOpen = written.endsWith(OPEN);
      const name = isOpen ? written.slice(0, -OPEN.length) : written;
      if (table.has(name)) throw new Error(`${name} stands in two lists`);
      table.set(name, { ...member, isOpen });
    }
  }
  for (const [name, within] of Object.entries(lists.within ?? {})) {
    const member = table.get(name);
    if (!member) throw new Error(`${name} is in no list`);
    table.set(name, { ...member, within: within === 'self' ? table : within });
  }
  for (const [names, text] of Object.entries(lists.texts ?? {})) {
    for (const name of names.split(' ')) {
      const member = table.get(name);
      if (!member) throw new Error(`${name} is in no list`);
      table.set(name, { ...member, text });
    }
  }
  return table;
}

/** Describes the treatment of a member, as docs/charges.md and OpenAPI do. */
export function describeMember({ treatment, text }: Member): string {
  return text === undefined ? treatment : `${treatment}: ${text}`;
}

/** Names in a table that would run another model. */
export function otherModelsIn(table: Members): readonly string[] {
  return [...table].filter(([, member]) => member.refusal === 'other model').map(([name]) => name);
}

/** `cache_control` of Anthropic, and of providers that forward it. */
export const CACHE_CONTROL = membersOf({
  free: 'type',
  priced: 'ttl',
  texts: { ttl: '`cacheWrite1h`, unless `5m`' },
});
/** Text of members that mark what the provider caches. */
export const CACHE_WRITE = '`cacheWrite`, else `input`';
/** Text of `ttl` in OpenAI's cache options and breakpoints. */
export const CACHE_LIFE = '`cacheWrite1h`, unless `30m`';
/** `prompt_cache_breakpoint` of OpenAI. */
export const CACHE_BREAKPOINT = membersOf({ free: 'mode', priced: 'ttl', texts: { ttl: CACHE_LIFE } });

/** Texts of members with one meaning in several formats of OpenAI. */
export const OPENAI_TEXTS = {
  service_tier:
    '`serviceTiers`, unless `auto`, `default`, `standard` or null; none or `auto` holds the highest',
  prompt_cache_options: CACHE_WRITE,
} as const;

export const STREAM_OPTIONS = membersOf({ read: 'include_usage', free: 'include_obfuscation' });

/** Members of every request. */
export const EVERYWHERE = {
  /** Run a model other than `model` at OpenAI, OpenRouter or LiteLLM. */
  otherModels: 'models fallbacks fallback_models',
  /** Subagents of OpenAI's Responses API, which doesn't limit their number. */
  always: 'multi_agent',
} as const;

/**
 * Top-level members by which some providers let a client name the answer. Two accounts could choose one name, so they
 * never go upstream.
 */
export const DROPPED_FIELDS: ReadonlySet<string> = new Set(['request_id', 'response_id', 'id']);

/** Folded names of members that a gateway behind the upstream's address obeys: they change any other member. */
const OBEYED_BEHIND: ReadonlySet<string> = new Set([
  'extra_body',
  'context_window_fallback_dict',
  'fallback_model',
  'provideroptions',
  'litellm_params',
]);

/** Throws 400 `unpriced_parameter` for a top-level member of that kind, whatever its value. `folded`: its folded name. */
export function refuseObeyed(folded: string): void {
  if (!OBEYED_BEHIND.has(folded) && !folded.endsWith('_fallbacks')) return;
  throw new GatewayError(
    'unpriced_parameter',
    `${folded.slice(0, MAX_NAME_CHARS)} is not supported, because a provider could read other fields or another model from it. ` +
      'Leave it out.',
    folded.slice(0, MAX_NAME_CHARS),
  );
}

/** Providers with complete tables: any other member of their requests is new. */
const KNOWN_PROVIDERS: ReadonlySet<string | undefined> = new Set(['openai', 'anthropic']);
const MAX_NAME_CHARS = 100;
/** Most unknown members listed for a request. */
const MAX_UNKNOWN = 20;

/** Result of a check. */
export interface MemberFindings {
  readonly charges: readonly Surcharge[];
  /** Paths of members that are in no table, such as `reasoning.style`. */
  readonly unknown: readonly string[];
}

/**
 * Checks the members of a request against the tables. Throws 400 `invalid_field` for a member that would run another
 * model.
 *
 * Costs one Map lookup for each member of the request, and for OpenAI and Anthropic also for each nested member. Not
 * recursive, because clients decide how deep their JSON is.
 */
export function checkMembers({ kind, model, value }: ParsedRequest, table: Members): MemberFindings {
  const walk = new Walk(KNOWN_PROVIDERS.has(model.upstream.provider) && model.priceSource !== 'free');
  walk.request(value, table, kind === 'form');
  walk.rest();
  return walk;
}

function unreported(name: string): GatewayError {
  const message = `${name} is not supported, because the response does not report its cost. Leave it out.`;
  const { field, details } = CLIENT_QUIRKS.toolRunners;
  return new GatewayError('invalid_field', message, name, undefined, name === field ? { details } : {});
}

class Walk implements MemberFindings {
  readonly charges: Surcharge[] = [];
  readonly unknown: string[] = [];
  readonly #knowsAll: boolean;
  /** Parallel stacks of unchecked objects and lists, their tables and their paths. */
  readonly #open: object[] = [];
  readonly #tables: Members[] = [];
  readonly #paths: string[] = [];

  constructor(knowsAll: boolean) {
    this.#knowsAll = knowsAll;
  }

  request(value: Readonly<Record<string, unknown>>, table: Members, isForm: boolean): void {
    for (const written in value) {
      // Form fields such as `include[]` and `svg[model]`.
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

  /** `path`: the top-level member. Deeper levels keep it, because messages can nest without limit. */
  #push(value: unknown, table: Members, path: string): void {
    if (!this.#knowsAll || typeof value !== 'object' || value === null) return;
    this.#open.push(value);
    this.#tables.push(table);
    this.#paths.push(path);
  }

  #refused(name: string, value: unknown, { refusal }: Member): void {
    if (refusal === 'always') this.#always(name);
    else if (refusal === 'other model') refuseModels({ [name]: value }, [name]);
    else if ((value ?? false) === false) return;
    else if (refusal === 'fee') this.charges.push({ param: name, what: name });
    else throw unreported(name);
  }

  #always(name: string): void {
    this.charges.push({ param: name, what: `${name}, whose subagents nothing limits` });
  }

  /** Handles a name that is not in the table as spelled. */
  #strange(name: string, value: unknown, table: Members): void {
    if (DROPPED_FIELDS.has(name)) return;
    const folded = foldName(name);
    if (table.get(folded)?.refusal === 'always') this.#always(folded);
    else this.#unknown(name, value, '');
  }

  /** Lists a member that is in no table, which passes. */
  #unknown(name: string, value: unknown, within: string): void {
    if (!this.#knowsAll || value === undefined || value === null) return;
    if (this.unknown.length >= MAX_UNKNOWN) return;
    this.unknown.push((within ? `${within}.${name}` : name).slice(0, MAX_NAME_CHARS));
  }
}
