import type { ConditionView } from '../views.ts';
import { Ago } from './parts.tsx';

/** Conditions as the object has them. */
export function ConditionTable({ conditions }: { readonly conditions: readonly ConditionView[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th>Condition</th>
          <th>Is</th>
          <th class="num">Since</th>
          <th>Reason</th>
          <th>Message</th>
        </tr>
      </thead>
      <tbody>
        {conditions.map(({ type, status, reason, message, sinceMs }) => (
          <tr key={type}>
            <td>
              <b>{type}</b>
            </td>
            <td>{status}</td>
            <td class="num">
              <Ago atMs={sinceMs} after="" />
            </td>
            <td>{reason}</td>
            <td class="wide">{message}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
