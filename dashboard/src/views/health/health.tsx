// Health: alerts and what the doctor found first, because they say what to do; then what happened in the last minutes, drawn.
import { ViewHead } from '../../ui/parts.js';
import { may } from '../../state/session.js';
import { AlertPanel } from './alert-panel.js';
import { DoctorPanel } from './doctor-panel.js';
import { Plots } from './plots.js';
import './health.css';

export function Health() {
  return (
    <div class="view">
      <ViewHead title="Health" />
      <AlertPanel />
      <Plots />
      {may('diagnose') && <DoctorPanel />}
    </div>
  );
}
