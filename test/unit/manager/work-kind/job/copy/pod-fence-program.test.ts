/**
 * Goal: the very text that runs in the pods answers only while renewals that are certain to be recent arrive, whatever is late, old, or
 * started anew.
 */
import { beforeEach, expect, test } from 'vitest';
import { BOOT_ID, FencedNode } from '../../../../../support/fenced-node.ts';

const SECONDS = 120;

let node: FencedNode;
beforeEach(() => {
  node = new FencedNode(SECONDS);
  node.start();
});

test('until the first renewal it answers no, and no container may be made; with it both change', () => {
  node.pass(60);
  expect([node.answer(), node.isGateOpen()]).toEqual([503, false]);
  node.renew('0/a');
  node.pass(1);
  expect([node.answer(), node.isGateOpen()]).toEqual([200, true]);
});

test('while renewals come it goes on, for days; the same one counts once', () => {
  for (let each = 0; each < 500; each++) {
    node.renew(`0/${each}`);
    node.pass(24);
  }
  expect(node.answer()).toBe(200);
  node.pass(97);
  expect(node.answer()).toBe(200);
  node.pass(1);
  expect([node.answer(), node.isGateOpen()]).toEqual([503, false]);
});

test('once it has seen none for too long that is final: one that is late changes nothing, nor does a start anew', () => {
  node.renew('0/a');
  node.pass(122);
  node.renew('0/b');
  node.pass(1);
  expect(node.answer()).toBe(503);
  node.start();
  node.renew('1/c');
  node.pass(1);
  expect([node.answer(), node.isGateOpen()]).toEqual([503, false]);
  expect(node.terminate()).toBe(75);
});

test('a renewal that it finds after it has stood still for too long is not counted', () => {
  node.renew('0/a');
  node.pass(1);
  node.sleep(SECONDS + 1);
  node.renew('0/b');
  expect(node.answer()).toBe(503);
});

test('a pod that ends in its own time leaves no sign of having been cut off', () => {
  node.renew('0/a');
  node.pass(1);
  expect(node.terminate()).toBe(0);
});

test('killed and started again it goes on where it was: the time in which it did not run counts', () => {
  node.renew('0/a');
  node.pass(1);
  node.sleep(60);
  node.start();
  expect([node.answer(), node.isGateOpen()]).toEqual([200, true]);
  node.pass(60);
  expect(node.answer()).toBe(200);
  node.pass(1);
  expect(node.answer()).toBe(503);
});

test('a renewal for another start of it is none, until it has begun: it may have been written before this one', () => {
  node.pass(SECONDS + 1);
  // Nobody has renewed it in time, so that what comes now may be old: it ends, and begins anew.
  expect(node.exitCode).toBe(1);
  node.renew('0/late');
  node.start();
  node.pass(1);
  node.renew('0/later');
  node.pass(1);
  expect([node.answer(), node.isGateOpen()]).toEqual([503, false]);
  node.renew('1/a');
  node.pass(1);
  expect(node.answer()).toBe(200);
});

test('what stood there when it started is no renewal', () => {
  node = new FencedNode(SECONDS);
  node.renew('0/a');
  node.start();
  node.pass(30);
  expect(node.answer()).toBe(503);
});

test('after the node was booted nothing is left of what it had seen', () => {
  node.renew('0/a');
  node.pass(1);
  node.files.set(BOOT_ID, 'boot-2\n');
  node.seconds = 40;
  node.start();
  expect([node.answer(), node.isGateOpen()]).toEqual([503, false]);
  node.renew('1/b');
  node.pass(1);
  expect(node.answer()).toBe(200);
});
