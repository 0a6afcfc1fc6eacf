import { type GatewayProcess, type Place, startGatewayProcess } from '../helper/gateway-process.ts';
import type { Scope } from '../helper/scope.ts';

/** One life of a gateway: from its start to its death. */
export interface Life {
  readonly slot: number;
  /** What the ids of its calls begin with (domain/request-id.ts). */
  readonly prefix: string;
  /** Milliseconds since the epoch; undefined: it lives, or was stopped as it should be. */
  killedAt: number | undefined;
}

/** `req_` and 16 characters of the process; a count follows. */
const PREFIX_LENGTH = 20;
const AGAIN_MS = 100;

/** A place that a gateway is started in again and again, always at the same address. */
export class GatewaySlot {
  readonly index: number;
  readonly url: string;
  readonly lives: Life[] = [];
  /** Ends that nobody ordered, with what the gateway wrote. */
  readonly crashes: string[] = [];
  readonly #scope: Scope;
  readonly #place: Place;
  #gateway: GatewayProcess | undefined;
  #reviving: Promise<void> | undefined;
  #stopped = false;

  constructor(scope: Scope, place: Place, index: number, port: number) {
    this.index = index;
    this.url = `http://127.0.0.1:${port}`;
    this.#scope = scope;
    this.#place = place;
  }

  get isUp(): boolean {
    return this.#gateway !== undefined;
  }

  get life(): Life | undefined {
    return this.lives.at(-1);
  }

  async start(): Promise<void> {
    const gateway = await startGatewayProcess(this.#scope, this.#place);
    const response = await fetch(`${gateway.url}/healthz`);
    const prefix = (response.headers.get('x-request-id') ?? '').slice(0, PREFIX_LENGTH);
    this.lives.push({ slot: this.index, prefix, killedAt: undefined });
    this.#gateway = gateway;
    void gateway.ended.then(({ code, signal, errors }) => {
      if (this.#gateway !== gateway) return;
      this.#gateway = undefined;
      this.crashes.push(`gateway ${this.index} ended by itself with ${code ?? signal}: ${errors}`);
    });
  }

  /** SIGKILL, now; it starts again after `downMs`, and goes on trying where it cannot. False: it is down already. */
  kill(downMs: number): boolean {
    const gateway = this.#gateway;
    if (!gateway || this.#stopped) return false;
    process.kill(gateway.pid, 'SIGKILL');
    this.#gateway = undefined;
    if (this.life) this.life.killedAt = Date.now();
    this.#reviving = gateway.ended
      .then(() => new Promise((resolve) => setTimeout(resolve, downMs)))
      .then(() => this.#revive());
    return true;
  }

  async #revive(): Promise<void> {
    while (!this.#stopped) {
      try {
        return await this.start();
      } catch {
        // Redis or the book is away: as a supervisor would, again.
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
  }

  /** Resolves when it is up again. */
  async revived(): Promise<void> {
    await this.#reviving;
  }

  /** SIGTERM; the exit code, and what it wrote on stderr. */
  async stop(): Promise<{ code: number | null; errors: string; output: string }> {
    this.#stopped = true;
    await this.#reviving;
    const gateway = this.#gateway;
    this.#gateway = undefined;
    const ended = await gateway?.stop();
    return ended ?? { code: null, errors: 'it was not up', output: '' };
  }

  /** What it logged until now. */
  output(): string {
    return this.#gateway?.output() ?? '';
  }

  /** At the end of a history, however that ended. */
  abandon(): void {
    this.#stopped = true;
    if (this.#gateway) process.kill(this.#gateway.pid, 'SIGKILL');
    this.#gateway = undefined;
  }
}
