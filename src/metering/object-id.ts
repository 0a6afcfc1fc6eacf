/** Letters, digits and signs that mean nothing in a path: such an id reaches no other path of an upstream. */
const OBJECT_ID = /^[A-Za-z0-9_][A-Za-z0-9_.~:-]{0,254}$/;

/** Whether what an upstream made can be asked for by this id. */
export function isObjectId(id: string): boolean {
  return OBJECT_ID.test(id);
}
