// Addresses of servers: what is taken, and what is refused without showing a secret.
import { describe, expect, test } from 'vitest';
import { parseHttpUrl } from './http-url.js';

describe('W2: the url of a server', () => {
  test.each([
    ['http://127.0.0.1:7420', { tls: false, host: '127.0.0.1', port: 7420, path: '', shown: 'http://127.0.0.1:7420' }],
    ['HTTP://Leases.internal/', { tls: false, host: 'leases.internal', port: 80, path: '' }],
    [
      'https://leases.internal/team/',
      { tls: true, port: 443, path: '/team', shown: 'https://leases.internal:443/team' },
    ],
    ['https://[::1]:7420?tlsCa=/etc/ca.pem', { tls: true, host: '::1', port: 7420, tlsCa: '/etc/ca.pem' }],
  ])('%s', (url, expected) => {
    expect(parseHttpUrl(url)).toMatchObject(expected);
  });

  test.each([
    ['http://me:hidden@host', /give connect a token instead/],
    ['https://hidden@host', /give connect a token instead/],
    ['http://host?token=hidden', /a token does not belong into a url/],
    ['http://host?x=hidden', /a name that is not known/],
    ['http://host?tlsCa=/a', /tlsCa is for https: urls/],
    ['https://host?tlsCa=/a&tlsCa=/b', /more than once/],
    ['https://host?tlsCa=', /path of a PEM file/],
    ['http://host#hidden', /no part after #/],
    ['http:', /names no server/],
    ['http:///path', /names no server/],
    ['http://host:99999', /names no server/],
  ])('%s is refused, and nothing of it is shown', (url, message) => {
    expect(() => parseHttpUrl(url)).toThrow(message);
    expect(() => parseHttpUrl(url)).not.toThrow(/hidden/);
  });
});
