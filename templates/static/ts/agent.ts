// The page of an agent that one may not edit.
import { wireActions } from "./agent_actions.ts";
import type { AgentPage } from "./agent_page.ts";
import { embedded } from "./dom.ts";

wireActions(embedded<AgentPage>("page"));
