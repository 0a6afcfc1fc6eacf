import { GatewayError } from '../../../domain/errors.ts';

/**
 * 400 `invalid_json` for text that is not JSON. With the body, it says where and why, as JSON.parse does, unless that
 * message would quote the body.
 */
export class NotJson extends GatewayError {
  constructor(body?: Buffer) {
    const fault = body && faultIn(body);
    super('invalid_json', `The request body is not valid JSON${fault ? `: ${fault}` : ''}.`);
  }
}

function faultIn(body: Buffer): string | undefined {
  try {
    JSON.parse(body.toString());
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    // Messages that quote the text end so. They have no position.
    return message.endsWith(' is not valid JSON') ? undefined : message;
  }
}
