import { DROPPED_FIELDS } from '../../metering/members.ts';
import { MADE_UP_NAMES } from '../request/json/names-within.ts';

/**
 * Matches names of members whose value is an id: `file_id`, `container_ids`, and in forms `input_reference[file_id]`,
 * `file_ids[]`. Ignores case, like Go's JSON decoder (which also reads `ſ` as s).
 */
export const NAMES_AN_ID = /(?:^|[^a-z])ids?[\][\d]*$/iu;
/** Matches other members whose string value is an id. */
const IDS_AS_STRINGS = /^(?:container|conversation|cached_?content)$/iu;
const TOOL_USE = /tool_use$/;

type Members = Readonly<Record<string, unknown>>;

/** Origin of the request itself, whose own `id` is the client's label. */
const ROOT = Symbol('root');
/** Origin of an object or list: the name of the list that contains it, or undefined for a member's own value. */
type Origin = string | undefined | typeof ROOT;

/**
 * Collects every id by which a request refers to something stored at its provider, with the name of its member. These
 * are: every member with an id's name, and the `id` of an object that comes without its content (`isSentAlong`).
 * NOT_REFERENCES lists exceptions with reasons.
 *
 * No recursion, because the client decides how deep its JSON is. The walk takes 0.5 µs for a chat of two turns and 30
 * µs for an agent's 100 turns and 30 tools, a tenth of the time to parse them.
 */
export function referencedIds(body: Members): ReadonlyMap<string, string> {
  const walk = new Walk();
  walk.object(body, ROOT);
  walk.rest();
  return walk.named;
}

class Walk {
  readonly named = new Map<string, string>();
  /** Stacks of the objects and lists to search, and of their origins. */
  readonly #open: object[] = [];
  readonly #places: Origin[] = [];
  /**
   * Ids of approval requests in this request, and below them the ids that it answers. An answered one that is not
   * contained is a reference.
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
        if (origin === ROOT && DROPPED_FIELDS.has(name)) continue;
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

/** Whether a member of this name refers to a stored resource. `beside` is the object that contains it. */
function isReference(name: string, beside: Members): boolean {
  if (!NAMES_AN_ID.test(name)) return IDS_AS_STRINGS.test(name);
  if (NOT_REFERENCES.has(name)) return false;
  if (name === 'skill_id') return !PUBLIC_SKILLS.has(beside.type);
  // A connector of OpenAI's platform uses the client's own authorization, if sent.
  if (name === 'connector_id') return typeof beside.authorization !== 'string' || beside.authorization === '';
  // Form fields such as `metadata[user_id]` are free-form too.
  return !FREE_FORM.has(name.slice(0, Math.max(0, name.indexOf('['))));
}

function isFreeForm(name: string, beside: Members): boolean {
  // In Anthropic's tool calls `input` contains free arguments; elsewhere it contains items to check.
  if (name === 'input') return typeof beside.type === 'string' && TOOL_USE.test(beside.type);
  return FREE_FORM.has(name);
}

/** Lists whose elements have ids when a client sends an earlier answer back in full. */
const ITEM_LISTS: ReadonlySet<string> = new Set(['input', 'content', 'output', 'tools', 'reasoning_details']);

/** Item types that providers look up by id, with the members that contain their content. */
const CONTENT_OF: ReadonlyMap<string, readonly string[]> = new Map([
  ['item_reference', []],
  ['message', ['content']],
  // `summary` is missing: the model can't continue from it.
  ['reasoning', ['encrypted_content', 'content']],
  ['compaction', ['encrypted_content', 'content']],
  ['image_generation_call', ['result']],
  ['file_search_call', ['results']],
]);

/** Members that describe an item and contain none of its content. */
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

/** Whether an item comes with its content, so that its id is only a label. */
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

/** Members that look like ids but refer to nothing stored at a provider. */
const NOT_REFERENCES: ReadonlySet<string> = new Set([
  // The client's labels for user, session and trace.
  'user_id',
  'request_id',
  'session_id',
  'trace_id',
  'span_id',
  'turn_id',
  // Tool calls within the conversation.
  'call_id',
  'tool_call_id',
  'tool_use_id',
  'tool_id',
  'caller_id',
  // Tabs and downloads of the client's browser.
  'tab_id',
  'download_id',
  // Anthropic's `diagnostics`: the answer explains a missed prompt cache and shows nothing of the message.
  'previous_message_id',
]);

/** Members with free content: names inside come from the client or the model and are never ids. */
const FREE_FORM: ReadonlySet<string> = new Set([
  ...MADE_UP_NAMES,
  // Headers and environment of tools that the client runs or reaches.
  'headers',
  'env',
  // Sources of an earlier answer's text; providers load nothing through them.
  'annotations',
  'citations',
]);

/** Lists whose elements have an `id` that the client, model or platform made up and that refers to nothing stored. */
const NUMBERED: ReadonlySet<string> = new Set([
  // Chat messages and their tool calls come in full; providers of these formats store none.
  'messages',
  'tool_calls',
  // Confirmations that the model asked for in the conversation.
  'pending_safety_checks',
  'acknowledged_safety_checks',
  // OpenRouter's plugins, `[{ "id": "web" }]`: platform functions.
  'plugins',
]);

/** Values of `type` beside a `skill_id` that mark a public skill. */
const PUBLIC_SKILLS: ReadonlySet<unknown> = new Set(['anthropic', 'openai']);
