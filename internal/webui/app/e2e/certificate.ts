import { createHash, generateKeyPairSync, sign } from 'node:crypto';

const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const size = body.length < 128 ? [body.length] : body.length < 256 ? [0x81, body.length] : [0x82, body.length >> 8, body.length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
};
const sequence = (...parts: Buffer[]) => der(0x30, ...parts);
const name = sequence(der(0x31, sequence(Buffer.from('0603550403', 'hex'), der(0x0c, Buffer.from('test')))));
const ecdsaWithSHA256 = sequence(Buffer.from('06082a8648ce3d040302', 'hex'));
const time = (text: string) => der(0x17, Buffer.from(text));

/** A certificate of this run alone, and the hash by which Chromium is told to take it for a good one. */
export function certificate(): { cert: string; key: string; hash: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const body = sequence(
    der(0xa0, der(2, Buffer.from([2]))),
    der(2, Buffer.from([1])),
    ecdsaWithSHA256,
    name,
    sequence(time('250101000000Z'), time('490101000000Z')),
    name,
    spki,
  );
  const whole = sequence(body, ecdsaWithSHA256, der(3, Buffer.from([0]), sign('sha256', body, privateKey)));
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${whole.toString('base64').replace(/(.{64})/g, '$1\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    hash: createHash('sha256').update(spki).digest('base64'),
  };
}
