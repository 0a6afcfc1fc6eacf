import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Scope } from '../start/scope.ts';

export interface ReceivedMail {
  /** Addresses of the envelope. */
  readonly from: string;
  readonly to: readonly string[];
  /** Head and body, with line feeds. */
  readonly message: string;
}

export interface SmtpServer {
  /** `smtp://127.0.0.1:<port>`. */
  readonly url: string;
  readonly mails: readonly ReceivedMail[];
  /** Every command that came, without the content of mails. */
  readonly commands: readonly string[];
  /** Command that it refuses with 550, such as `RCPT`. */
  refused: string | undefined;
}

/** Starts a mail server on loopback, without TLS, that keeps the mails it gets. */
export async function startSmtpServer(t: Scope): Promise<SmtpServer> {
  const mails: ReceivedMail[] = [];
  const commands: string[] = [];
  const sockets = new Set<Socket>();
  const smtp = { url: '', mails, commands, refused: undefined as string | undefined };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    void serve(socket, smtp, mails, commands);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  smtp.url = `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return smtp;
}

async function serve(
  socket: Socket,
  smtp: Pick<SmtpServer, 'refused'>,
  mails: ReceivedMail[],
  commands: string[],
): Promise<void> {
  const say = (line: string) => socket.write(`${line}\r\n`);
  let [from, to, content] = ['', [] as string[], undefined as string[] | undefined];
  say('220 mail.test ESMTP');
  for await (const line of createInterface({ input: socket })) {
    if (content) {
      if (line !== '.') content.push(line.replace(/^\.\./, '.'));
      else {
        mails.push({ from, to, message: content.join('\n') });
        [from, to, content] = ['', [], undefined];
        say('250 kept');
      }
      continue;
    }
    commands.push(line);
    const verb = line.slice(0, 4).toUpperCase();
    const address = /<(.*?)>/.exec(line)?.[1] ?? '';
    if (verb === smtp.refused) say(`550 5.1.1 <${address}> is refused`);
    else if (verb === 'DATA') {
      content = [];
      say('354 go on');
    } else if (verb === 'QUIT') socket.end('221 bye\r\n');
    else {
      if (verb === 'MAIL') from = address;
      if (verb === 'RCPT') to.push(address);
      say('250 fine');
    }
  }
}
