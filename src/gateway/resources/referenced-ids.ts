import { MADE_UP_NAMES } from '../request/json/names-within.ts';

/**
 * Member names that mark a value as an id: `file_id`, `container_ids`, and in forms `input_reference[file_id]`,
 * `file_ids[]`. Case is ignored, because Go's JSON decoder ignores it (and reads `ſ` as s).
 */
export const NAMES_AN_ID = /(?:^|[^a-z])ids?[\][\d]*$/iu;
/** Matches names of members whose value, if it is a string, is an id although the name does not end in id. */
const IDS_AS_STRINGS = /^(?:container|conversation|cached_?content)$/iu;
const TOOL_USE = /tool_use$/;

type Members = Readonly<Record<string, unknown>>;

/** Place of the request itself, whose own `id` is the client's label. */
const ROOT = Symbol('root');
/**
 * Place of an object or a list: the name of the list that contains it, or undefined if it is a member's own value.
 */
type Origin = string | undefined | typeof ROOT;

/**
 * Every id by which a request refers to something that its provider stores, mapped to the name of the member that holds
 * it. In a body of any endpoint that is: every member that is an id by its name, and the `id` of an object that comes
 * without the content it names (`isSentAlong`). Exceptions are listed in NOT_REFERENCES, each with the reason.
 *
 * There is no recursion, because the client decides how deep its JSON is. The walk takes 0.5 µs for a chat of two turns
 * and 30 µs for an agent's 100 turns and 30 tools, a tenth of the time to parse them.
 */
export function referencedIds(body: Members): ReadonlyMap<string, string> {
  const walk = new Walk();
  walk.object(body, ROOT);
  walk.rest();
  return walk.named;
}

class Walk {
  readonly named = new Map<string, string>();
  /** Stack of the objects and lists that are still to be searched, and below it that of their places. */
  readonly #open: object[] = [];
  readonly #places: Origin[] = [];
  /**
   * Ids of the approval requests that this request contains, and below them the ids of those that it answers. One that
   * is answered and not contained is a reference.
   */
  readonly #requests = new Set<string>();
  readonly #answered = new Set<string>();

  rest(): void {
    for (let inner = this.#open.pop(); inner !== undefined; inner = this.#open.pop()) {
      const origin = this.#places.pop();
      if (Array.isArray(inner)) this.#list(inner, String(origin));
      else this.object(inner as Members, origin);
    }
    for (const id of this.#answered) if (!this.#requests.has(id)) this.named.set(id, 'approval_request_id');
  }

  object(object: Members, origin: Origin): void {
    for (const name in object) {
      const value = object[name];
      if (typeof value === 'string') {
        if (name === 'id') this.#id(value, object, origin);
        else if (isReference(name, object)) this.#note(value, name);
      } else if (typeof value === 'object' && value !== null && !isFreeForm(name, object)) {
        this.#push(value, Array.isArray(value) ? name : undefined);
      }
    }
  }

  #list(list: readonly unknown[], name: string): void {
    const areIds = isReference(name, NO_MEMBERS);
    for (const value of list) {
      if (typeof value === 'object' && value !== null) this.#push(value, name);
      else if (areIds && typeof value === 'string') this.#note(value, name);
    }
  }

  #push(value: object, origin: Origin): void {
    this.#open.push(value);
    this.#places.push(origin);
  }

  #id(id: string, object: Members, origin: Origin): void {
    if (object.type === 'mcp_approval_request') this.#requests.add(id);
    if (origin === ROOT) return;
    if (origin !== undefined && (NUMBERED.has(origin) || (ITEM_LISTS.has(origin) && isInlined(object))))
      return;
    this.#note(id, 'id');
  }

  #note(id: string, name: string): void {
    if (id === '') return;
    if (name === 'approval_request_id') this.#answered.add(id);
    else this.named.set(id, name);
  }
}

const NO_MEMBERS: Members = {};

/** True if a member of this name refers to a stored resource. `beside` is the object that contains the member. */
function isReference(name: string, beside: Members): boolean {
  if (!NAMES_AN_ID.test(name)) return IDS_AS_STRINGS.test(name);
  if (NOT_REFERENCES.has(name)) return false;
  if (name === 'skill_id') return !PUBLIC_SKILLS.has(beside.type);
  // A connector of OpenAI's platform is used with the client's own authorization, if the client sends one.
  if (name === 'connector_id') return typeof beside.authorization !== 'string' || beside.authorization === '';
  // Form fields such as `metadata[user_id]` are free-form too.
  return !FREE_FORM.has(name.slice(0, Math.max(0, name.indexOf('['))));
}

function isFreeForm(name: string, beside: Members): boolean {
  // In Anthropic's tool calls `input` holds free arguments; elsewhere it holds the items to be checked.
  if (name === 'input') return typeof beside.type === 'string' && TOOL_USE.test(beside.type);
  return FREE_FORM.has(name);
}

/** Names of lists whose elements carry ids when a client sends an earlier answer back in full. */
const ITEM_LISTS: ReadonlySet<string> = new Set(['input', 'content', 'output', 'tools', 'reasoning_details']);

/** Types of items that providers look up by id, with the members that hold the content of such an item. */
const CONTENT_OF: ReadonlyMap<string, readonly string[]> = new Map([
  ['item_reference', []],
  ['message', ['content']],
  // `summary` is missing here: it is not enough for the model to continue from.
  ['reasoning', ['encrypted_content', 'content']],
  ['compaction', ['encrypted_content', 'content']],
  ['image_generation_call', ['result']],
  ['file_search_call', ['results']],
]);

/** Members that describe an item and hold none of its content. */
const LABELS: ReadonlySet<string> = new Set([
  'id',
  'type',
  'role',
  'status',
  'object',
  'phase',
  'index',
  'created_by',
]);

/** True if an item comes with its content, so that its id is a label and no reference to what a provider stores. */
function isInlined(item: Readonly<Record<string, unknown>>): boolean {
  // OpenAI treats an item without a type as a message.
  const type = item.type ?? 'message';
  if (typeof type !== 'string') return false;
  const content = CONTENT_OF.get(type);
  if (content) return content.some((name) => isFilled(item[name]));
  for (const name in item) if (!LABELS.has(name) && item[name] !== null) return true;
  return false;
}

function isFilled(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false;
  return !Array.isArray(value) || value.length > 0;
}

/** Names of members that look like ids and refer to nothing that a provider stores. */
const NOT_REFERENCES: ReadonlySet<string> = new Set([
  // The client's own labels for the user, the session and the trace.
  'user_id',
  'request_id',
  'session_id',
  'trace_id',
  'span_id',
  'turn_id',
  // Tool calls within the same conversation.
  'call_id',
  'tool_call_id',
  'tool_use_id',
  'tool_id',
  'caller_id',
  // Tabs and downloads of the client's own browser.
  'tab_id',
  'download_id',
  // Anthropic's `diagnostics`: the answer says why a prompt cache was missed, and shows nothing of the message named.
  'previous_message_id',
]);

/**
 * Names of members whose content is free: names inside come from the client or the model, and none is read as an id.
 */
const FREE_FORM: ReadonlySet<string> = new Set([
  ...MADE_UP_NAMES,
  // Headers and environment of tools that the client runs or reaches.
  'headers',
  'env',
  // Sources of an earlier answer's text; providers load nothing through them.
  'annotations',
  'citations',
]);

/**
 * Names of lists whose elements have an `id` that the client, the model or the platform made up, and that refers to
 * nothing stored.
 */
const NUMBERED: ReadonlySet<string> = new Set([
  // Messages of a chat and their tool calls come in full; providers of these formats store none of them.
  'messages',
  'tool_calls',
  // Confirmations that the model asked for in the same conversation.
  'pending_safety_checks',
  'acknowledged_safety_checks',
  // OpenRouter's plugins, `[{ "id": "web" }]`: functions of its platform.
  'plugins',
]);

/** Values of `type` beside a `skill_id` that mark a skill as public. */
const PUBLIC_SKILLS: ReadonlySet<unknown> = new Set(['anthropic', 'openai']);
