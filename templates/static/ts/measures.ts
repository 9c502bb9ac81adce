// Lengths of time, counts and moments as people read them.
import { say } from "./strings.ts";

const whole = new Intl.NumberFormat(document.documentElement.lang || undefined);

export function duration(milliseconds: number): string {
  if (milliseconds < 1_000) return say.milliseconds(Math.round(milliseconds));
  return say.seconds((milliseconds / 1_000).toFixed(1));
}

export function count(number: number): string {
  return whole.format(number);
}

/** `4:05` until a moment; null once it is past. */
export function timeLeft(until: number, now: number): string | null {
  const seconds = Math.ceil((until - now) / 1_000);
  if (!Number.isFinite(seconds) || seconds <= 0) return null;
  const rest = String(seconds % 60).padStart(2, "0");
  return `${Math.floor(seconds / 60)}:${rest}`;
}

const clock = new Intl.DateTimeFormat(document.documentElement.lang || undefined, {
  dateStyle: "medium",
  timeStyle: "short",
});

/** A moment as people write it, in their own time zone. */
export function moment(at: string): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? "" : clock.format(date);
}
