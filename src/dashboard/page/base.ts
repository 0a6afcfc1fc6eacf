/** Address of the page's folder, `https://host/ai/dashboard/`, whatever path a proxy serves it at. */
export const HERE = new URL('..', import.meta.url);

/** Address of a path of the gateway, such as `/api/account/`. */
export function gatewayUrl(path: string): string {
  return `${new URL('..', HERE).href.slice(0, -1)}${path}`;
}
