import type { PersonView, SessionView } from '../../../src/api/people/person-view.ts';
import type { OidcProvider } from '../stand-ins/oidc-provider.ts';
import type { Answer } from './api.ts';
import { send } from './people.ts';

/** The session of a person. */
export type PersonSession = SessionView & { readonly person: PersonView };

/** A browser that signs in with identity providers: it keeps cookies, and follows redirects as far as it is told. */
export class ProviderBrowser {
  readonly #url: string;
  readonly #cookies = new Map<string, string>();

  /** `url` of the gateway. */
  constructor(url: string) {
    this.#url = url;
  }

  /** The header with all cookies. */
  get cookie(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** Takes over a session. */
  add(cookie: string): this {
    const [name = '', value = ''] = cookie.split('=');
    this.#cookies.set(name, value);
    return this;
  }

  /** Opens an address without following where it leads. Resolves with that. */
  async open(url: string): Promise<string> {
    const answer = await fetch(new URL(url, this.#url), {
      redirect: 'manual',
      headers: { cookie: this.cookie },
    });
    this.#keep(answer.headers);
    return answer.headers.get('location') ?? `${answer.status}`;
  }

  /** Sends a request of the page. */
  async send<Body>(method: string, path: string, body?: unknown): Promise<Answer<Body>> {
    const answer = await send<Body>({ url: this.#url }, method, path, body, { cookie: this.cookie });
    this.#keep(answer.headers);
    return answer;
  }

  /** Signs in, or does with `use` what that says. Resolves with the page that it ends at. */
  async signIn(provider: OidcProvider, name: string, use?: object): Promise<string> {
    const path = `/api/session/oidc/${name}/`;
    const begun = use
      ? (await this.send<{ location: string }>('POST', path, use)).body.location
      : await this.open(path);
    if (!begun.startsWith(provider.issuer)) return begun;
    return await this.open((await provider.approve(begun)).href);
  }

  #keep(headers: Headers): void {
    for (const cookie of headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (/max-age=0/i.test(cookie)) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
  }
}
