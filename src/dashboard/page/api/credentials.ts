/**
 * Headers that say who asks, and in which account. With a token that is all; without one the cookie says who, and a
 * change needs the content type even if it has no body (browsers cannot send it to another site's gateway unasked).
 */
export function credentialHeaders(
  who: { readonly token: string | undefined; readonly accountId: number | undefined },
  method: string,
  hasBody: boolean,
): Readonly<Record<string, string>> {
  const { token, accountId } = who;
  const json = { 'content-type': 'application/json' };
  if (token !== undefined) return { authorization: `Bearer ${token}`, ...(hasBody && json) };
  return {
    ...(accountId !== undefined && { 'tollgate-account': String(accountId) }),
    ...((hasBody || method !== 'GET') && json),
  };
}
