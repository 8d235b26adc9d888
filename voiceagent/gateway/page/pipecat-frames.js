/**
 * The two frames of pipecat's protobuf serializer that a spoken conversation needs: sound, messages.
 *
 *     socket.send(encodeSound(samples, 16000));      // Int16Array
 *     socket.send(encodeMessage({ label: "rtvi-ai", type: "client-ready", id: "1" }));
 *     const { sound, rate, message } = decode(new Uint8Array(data));
 *
 * The numbers are those of pipecat's frames.proto; a field that is not known is passed over.
 */
const AUDIO = 2, MESSAGE = 4; // of Frame
const SAMPLES = 3, RATE = 4, CHANNELS = 5; // of AudioRawFrame
const DATA = 1; // of MessageFrame
const VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5;

/** One channel of samples. */
export function encodeSound(samples, rate) {
  const pcm = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
  return bytes(AUDIO, join([bytes(SAMPLES, pcm), number(RATE, rate), number(CHANNELS, 1)]));
}

/** Whatever JSON can say. */
export function encodeMessage(message) {
  return bytes(MESSAGE, bytes(DATA, new TextEncoder().encode(JSON.stringify(message))));
}

/** Either `sound` with its `rate`, or a `message`; neither for what is not understood. */
export function decode(frame) {
  const fields = read(frame);
  if (fields.has(AUDIO)) {
    const audio = read(fields.get(AUDIO));
    const pcm = (audio.get(SAMPLES) ?? new Uint8Array()).slice(); // aligned, as Int16Array wants it
    return { sound: new Int16Array(pcm.buffer, 0, pcm.length >> 1), rate: audio.get(RATE) };
  }
  if (!fields.has(MESSAGE)) return {};
  const data = read(fields.get(MESSAGE)).get(DATA) ?? new Uint8Array();
  return { message: JSON.parse(new TextDecoder().decode(data)) };
}

function bytes(field, value) {
  return join([varint((field << 3) | BYTES), varint(value.length), value]);
}

function number(field, value) {
  return join([varint((field << 3) | VARINT), varint(value)]);
}

function varint(value) {
  const made = [];
  for (; value > 127; value = Math.floor(value / 128)) made.push((value % 128) | 128);
  return Uint8Array.from([...made, value]);
}

function join(parts) {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  parts.reduce((at, part) => (whole.set(part, at), at + part.length), 0);
  return whole;
}

/** Field numbers and values of one protobuf message. */
function read(message) {
  const fields = new Map();
  let at = 0;
  const take = (length) => {
    if (at + length > message.length) throw new RangeError("a protobuf message is cut off");
    return message.subarray(at, (at += length));
  };
  const next = () => {
    for (let value = 0, scale = 1; ; scale *= 128) {
      const [byte] = take(1);
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = next();
    const kind = tag % 8;
    if (kind === VARINT) fields.set(tag >> 3, next());
    else if (kind === BYTES) fields.set(tag >> 3, take(next()));
    else if (kind === FIXED64 || kind === FIXED32) take(kind === FIXED64 ? 8 : 4);
    else throw new RangeError(`protobuf has no wire type ${kind}`);
  }
  return fields;
}
