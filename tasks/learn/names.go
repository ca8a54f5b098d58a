package learn

import "strings"

// givenNames are common given names of many languages, lower case, without those that are
// everyday words too.
func givenNames() []string {
	return strings.Fields(`
aaron abdul abdullah abigail adam adele adrian agnes ahmed aisha akira alan albert alejandro alex alexander alexandra alexei alfred ali alice alicia alina alison
amanda amelia amir amit amy ana anastasia anders andre andrea andreas andrei andrew angela anika anita anjali ann anna anne annika anthony antoine anton antonio
anya arjun arthur astrid ayesha barbara beatrice beatriz ben benjamin bernard bernd bianca bjorn boris brenda brian bridget bruno camila carla carlos carmen
carol caroline caterina catherine cecilia celine charles charlotte chiara chloe chris christian christina christine christopher claire clara claudia claudio clemens
colin connor craig cristina cynthia dagmar daniel daniela danielle danuta darren david deborah deepak denise dennis derek diana diego dieter dimitri dmitri dmitry
dominik donald dora doris dorothy douglas eduardo edward edwin eileen elena eleanor elias elif elisa elisabeth elise elizabeth ella ellen emil emilia emily emma
emmanuel enrique erica erik erika ernesto esra esther ethan eugene eva evelyn fabian farid farida fatima fatma felipe felix fernanda fernando fiona florian frances
francesca francesco francisco frank franz frederick frieda friedrich gabriel gabriela gareth gary geoffrey george georg gerald gerard gerhard giovanni giulia giuseppe
gloria gordon graham greta gregory guillaume gustav hanna hannah hans harald harold hassan heather hector heidi heinrich helen helena helga henrik henry herbert hiroshi
hugo ibrahim ida igor ilse imran ines ingrid irene irina isaac isabel isabella isabelle ivan jacob jacqueline jakob james jamie jan jana jane janet janine jason
javier jean jeffrey jelena jennifer jens jeremy jessica joan joanna joao johan johann johanna john johnny jonas jonathan jorge jose josef joseph joshua juan judith
julia julian juliana julie julien jun juliette jurgen justin kamal karen karin karl karolina katarina katharina katherine kathleen kathryn katja keith kelly kenji kenneth
kevin khalid klaus kofi konrad kristina kumar kurt kwame lars larissa laura lauren laurent lea leila lena leo leon leonard leonardo leticia liam lidia lina linda lisa
lorenzo louis louise luca lucas lucia luis luisa lukas luke lydia magda magdalena mahmoud manuel manuela marc marcel marcella marcin marco marcos marcus margaret margit
maria mariam marianne marie mario marion marta martha martin martina mary masako mateo mathias matteo matthew matthias maurice maximilian megan mehmet mei melanie
melissa michael michaela michel michelle miguel mikael mikhail milan milena miriam mohamed mohammed monica monika muhammad mustafa nadia naomi natalia natalie natasha
nathan neil nicholas nicola nicolas nicole nikolai nils nina noah nora norbert oliver olivia olga omar oscar oskar otto pablo pamela paola paolo patricia patrick
paul paula pauline pavel pedro peter petra philip philippe philipp pierre pilar piotr priya rachel rafael rahul raj ralph ramon raquel rashid raul rebecca renata
rene ricardo richard rita robert roberto robin rodrigo roger roland rosa rosalind rosemary ruben rudolf ruth ryan sabine sabrina sakura salma sam samantha samir
samuel sandra sanjay sara sarah sasha satoshi scott sebastian sergei sergey sergio shirley sigrid silvia simon simone sofia sonia sophia sophie stefan stefano stella
stephanie stephen steven stuart suresh susan susanna susanne svetlana sven sylvia takeshi tamara tanja tanya tatiana teresa theodor theresa thomas tim timothy tobias
tomas tomasz tony tracy ulrich ulrike ursula valentina valeria vanessa vera veronica victor victoria vijay viktor vincent vivian vladimir walter wanda wei wendy werner
wilhelm william wolfgang xavier xiaoming yasmin yolanda yuki yusuf yvonne zainab zoe zofia
`)
}
