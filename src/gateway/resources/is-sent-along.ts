/** Names of lists whose elements carry ids when a client sends an earlier answer back in full. */
export const ITEM_LISTS: ReadonlySet<string> = new Set([
  'input',
  'content',
  'output',
  'tools',
  'reasoning_details',
]);

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

/** True where an item comes with its content, so that its id is a label and no reference to what a provider stores. */
export function isSentAlong(item: Readonly<Record<string, unknown>>): boolean {
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
